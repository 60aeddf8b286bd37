#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/shape/shared/identity.hpp"

namespace troupe::ops::resource_variable_any {
namespace {

status destroy(kernel_context& at) {
  if (!at.variable(0).destroy() && !at.state<bool>())
    return failure(error_kind::not_found, "variable '", at.variable(0).name(),
                   "' has no value; ignore_lookup_error=true allows that");
  return {};
}

} // namespace

extern constexpr kernel_def read_variable_op_any{
    .op = "ReadVariableOp",
    .run = {{dtype::none, pass_inputs}},
    .on_any_device = true,
};

extern constexpr kernel_def destroy_resource_op_any{
    .op = "DestroyResourceOp",
    .run = {{dtype::none, destroy}},
    .prepare = cache_attr<bool, "ignore_lookup_error">,
    .on_any_device = true,
};

} // namespace troupe::ops::resource_variable_any

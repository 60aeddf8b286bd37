#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops::temporary_variable_any {
namespace {

status take_value(kernel_context& at) {
  TROUPE_ASSIGN(auto value, at.variable(0).read());
  at.variable(0).destroy();
  at.set_output(0, std::move(value));
  return {};
}

} // namespace

extern constexpr kernel_def destroy_temporary_variable_any{
    .op = "DestroyTemporaryVariable",
    .run = {{dtype::none, take_value}},
    .on_any_device = true,
};

} // namespace troupe::ops::temporary_variable_any

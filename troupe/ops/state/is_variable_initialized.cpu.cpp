#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops::is_variable_initialized_cpu {
namespace {

status run(kernel_context& at) {
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{}));
  *out->data<bool>() = at.variable(0).initialized();
  return {};
}

} // namespace

extern constexpr kernel_def is_variable_initialized_cpu{
    .op = "IsVariableInitialized",
    .device = device_kind::cpu,
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops::is_variable_initialized_cpu

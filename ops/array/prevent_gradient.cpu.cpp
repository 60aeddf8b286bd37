#include "troupe/runtime/kernel.hpp"

namespace troupe::ops {
namespace {

status run(kernel_context& at) {
  at.set_output(0, at.input(0));
  return {};
}

} // namespace

extern constexpr kernel_def prevent_gradient_cpu{
    .op = "PreventGradient",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops

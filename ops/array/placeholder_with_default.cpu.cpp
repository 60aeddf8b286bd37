#include "troupe/ops/attr_state.hpp"

namespace troupe::ops {
namespace {

status run(kernel_context& at) {
  const auto& dims = at.state<partial_shape>();
  if (!dims.compatible(at.input(0).dims()))
    return invalid("the default must have the shape ", dims, ", got ", at.input(0).dims());
  at.set_output(0, at.input(0));
  return {};
}

} // namespace

extern constexpr kernel_def placeholder_with_default_cpu{
    .op = "PlaceholderWithDefault",
    .run = {{dtype::none, run}},
    .prepare = keep_attr<partial_shape, "shape">,
};

} // namespace troupe::ops

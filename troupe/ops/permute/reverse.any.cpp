#include "troupe/ops/permute/shared/reverse.hpp"

namespace troupe::ops::reverse_any {
namespace {

status run(kernel_context& at) {
  const auto &x = at.input(0), &marks = at.input(1);
  if (!(marks.dims() == shape{x.rank()}))
    return invalid("dims must be a vector of ", x.rank(), " truth values, got shape ",
                   marks.dims());
  axis_set axes;
  for (size_t axis = 0; axis < static_cast<size_t>(x.rank()); ++axis)
    axes.set(axis, marks.data<bool>()[axis]);
  return reverse_axes(at, axes);
}

} // namespace

extern constexpr kernel_def reverse_any{
    .op = "Reverse",
    .run = {{dtype::none, run}},
    .on_any_device = true,
};

} // namespace troupe::ops::reverse_any

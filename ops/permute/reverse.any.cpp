#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/define/dims.hpp"
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::reverse_any {
namespace {

status reverse_axes(kernel_context& at, axis_set axes) {
  const auto& x = at.input(0);
  auto strides = strides_of(x.dims());
  int64_t first = 0;
  strided_iterator places;
  for (int axis = 0; axis < x.rank(); ++axis) {
    auto i = static_cast<size_t>(axis);
    auto backwards = axes[i] && x.dims()[axis] > 1;
    first += backwards ? (x.dims()[axis] - 1) * strides[i] : 0;
    places.push_back(x.dims()[axis], {backwards ? -strides[i] : strides[i], 0});
  }
  TROUPE_ASSIGN(auto* out, at.allocate(0, x.dims()));
  copy_strided(at, places, {x, first}, *out);
  return {};
}

status run_reverse(kernel_context& at) {
  const auto &x = at.input(0), &marks = at.input(1);
  if (!(marks.dims() == shape{x.rank()}))
    return invalid("dims must be a vector of ", x.rank(), " truth values, got shape ",
                   marks.dims());
  axis_set axes;
  for (size_t axis = 0; axis < static_cast<size_t>(x.rank()); ++axis)
    axes.set(axis, marks.data<bool>()[axis]);
  return reverse_axes(at, axes);
}

status run_reverse_v2(kernel_context& at) {
  if (at.input(1).rank() != 1)
    return invalid("axis must be a vector, got shape ", at.input(1).dims());
  TROUPE_ASSIGN(auto axes, axes_of(to_integers(at.input(1)), at.input(0).rank()));
  return reverse_axes(at, axes);
}

} // namespace

extern constexpr kernel_def reverse_any{
    .op = "Reverse",
    .run = {{dtype::none, run_reverse}},
    .on_any_device = true,
};

extern constexpr kernel_def reverse_v2_any{
    .op = "ReverseV2",
    .run = {{dtype::none, run_reverse_v2}},
    .on_any_device = true,
};

} // namespace troupe::ops::reverse_any

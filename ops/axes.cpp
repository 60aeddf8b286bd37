#include "troupe/ops/axes.hpp"

namespace troupe::ops {

result<axis_set> axes_of(std::span<const int64_t> axes, int rank) {
  axis_set found;
  for (auto named : axes) {
    TROUPE_ASSIGN(auto axis, resolve_axis(named, rank));
    if (found[static_cast<size_t>(axis)])
      return invalid("axis ", named, " is named twice");
    found.set(static_cast<size_t>(axis));
  }
  return found;
}

partial_shape without(const partial_shape& dims, axis_set axes, bool keep_dims) {
  std::vector<int64_t> left;
  for (int axis = 0; axis < dims.rank(); ++axis)
    if (!axes[static_cast<size_t>(axis)])
      left.push_back(dims[axis]);
    else if (keep_dims)
      left.push_back(1);
  return partial_shape{std::move(left)};
}

shape without(const shape& dims, axis_set axes, bool keep_dims) {
  shape left;
  for (int axis = 0; axis < dims.rank(); ++axis)
    if (!axes[static_cast<size_t>(axis)])
      left.push_back(dims[axis]);
    else if (keep_dims)
      left.push_back(1);
  return left;
}

int64_t product(const shape& dims, int from, int to) {
  int64_t elements = 1;
  for (int axis = from; axis < to; ++axis)
    elements *= dims[axis];
  return elements;
}

} // namespace troupe::ops

#include "troupe/ops/define/axes.hpp"

namespace troupe::ops {

result<axis_set> axes_of(std::span<const int64_t> axes, int rank) {
  axis_set axis_flags;
  for (auto named : axes) {
    TROUPE_ASSIGN(auto axis, resolve_axis(named, rank));
    if (axis_flags[static_cast<size_t>(axis)])
      return invalid("axis ", named, " is named twice");
    axis_flags.set(static_cast<size_t>(axis));
  }
  return axis_flags;
}

result<std::array<int, max_rank>> permutation_of(std::span<const int64_t> order, int rank) {
  if (order.size() != static_cast<size_t>(rank))
    return invalid("a permutation must list ", rank, " axes, got ", order.size());
  TROUPE_TRY(axes_of(order, rank));
  std::array<int, max_rank> axes{};
  for (size_t i = 0; i < order.size(); ++i)
    axes[i] = static_cast<int>(order[i] < 0 ? order[i] + rank : order[i]);
  return axes;
}

partial_shape without(const partial_shape& dims, axis_set axes, bool keep_dims) {
  std::vector<int64_t> kept_extents;
  for (int axis = 0; axis < dims.rank(); ++axis)
    if (!axes[static_cast<size_t>(axis)])
      kept_extents.push_back(dims[axis]);
    else if (keep_dims)
      kept_extents.push_back(1);
  return partial_shape{std::move(kept_extents)};
}

shape without(const shape& dims, axis_set axes, bool keep_dims) {
  shape kept_extents;
  for (int axis = 0; axis < dims.rank(); ++axis)
    if (!axes[static_cast<size_t>(axis)])
      kept_extents.push_back(dims[axis]);
    else if (keep_dims)
      kept_extents.push_back(1);
  return kept_extents;
}

int64_t product(const shape& dims, int from, int to) {
  int64_t elements = 1;
  for (int axis = from; axis < to; ++axis)
    elements *= dims[axis];
  return elements;
}

} // namespace troupe::ops

// The axes that an op works along, as users write them: negative axes count from the end.
#pragma once
#include "troupe/runtime/types/shape.hpp"

#include <bitset>

namespace troupe::ops {

using axis_set = std::bitset<max_rank>;

/// Fails for an axis outside of the rank and for a repeated axis.
result<axis_set> axes_of(std::span<const int64_t> axes, int rank);

/// Fails where the numbers are not a permutation of the axes.
result<std::array<int, max_rank>> permutation_of(std::span<const int64_t> order, int rank);

/// The shape without these axes, or with extent 1 for each.
partial_shape without(const partial_shape& dims, axis_set axes, bool keep_dims);
shape without(const shape& dims, axis_set axes, bool keep_dims);

/// The product of the extents of [from, to).
int64_t product(const shape& dims, int from, int to);

} // namespace troupe::ops

// Positions of diagonals: shared by the ops on the main diagonals of matrices. The matrices are the
// last two axes.
#pragma once
#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/kernel/strided_iterator.hpp"
#include "troupe/runtime/graph/infer.hpp"

#include <algorithm>

namespace troupe::ops {

/// Matrices stored one after another.
struct matrices {
  int64_t count = 1, rows = 1, columns = 1;

  int64_t diagonal() const { return std::min(rows, columns); }
  /// The diagonals as one contiguous sequence of elements.
  strided_iterator places() const {
    strided_iterator along;
    along.push_back(count, {rows * columns, 0});
    along.push_back(diagonal(), {columns + 1, 0});
    return along;
  }
};

/// Fails where there are fewer than two axes.
inline result<matrices> matrices_of(const shape& dims) {
  if (dims.rank() < 2)
    return invalid("a matrix has 2 axes, got shape ", dims);
  auto last = dims.rank() - 1;
  return matrices{product(dims, 0, last - 1), dims[last - 1], dims[last]};
}

/// The shape of the diagonals of matrices, as far as both are known.
inline result<partial_shape> diagonals_of(const partial_shape& dims) {
  if (!dims.has_rank())
    return dims;
  if (dims.rank() < 2)
    return invalid("a matrix has 2 axes, got shape ", dims);
  std::vector<int64_t> extents{dims.extents().begin(), dims.extents().end() - 1};
  auto columns = dims[dims.rank() - 1];
  auto& last = extents.back();
  last = last == 0 || columns == 0                             ? 0
         : last == unknown_extent || columns == unknown_extent ? unknown_extent
                                                               : std::min(last, columns);
  return partial_shape{std::move(extents)};
}

inline status check_band(const tensor& width) {
  if (width.elements() == 1)
    return {};
  return invalid("num_lower and num_upper must be scalars, got shape ", width.dims());
}

} // namespace troupe::ops

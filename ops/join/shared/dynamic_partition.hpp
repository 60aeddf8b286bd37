// Shared by the kernels of DynamicPartition.
#pragma once
#include "troupe/ops/define/axes.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <algorithm>

namespace troupe::ops {

/// Checks the shapes of data and partitions; returns the number of elements per row.
inline result<int64_t> check_partitions(const kernel_context& at) {
  const auto &data = at.input(0), &partitions = at.input(1);
  auto axes = partitions.rank();
  if (axes > data.rank() ||
      !std::ranges::equal(partitions.dims(), data.dims().extents().first(size_t(axes))))
    return invalid("the shape of partitions ", partitions.dims(), " must begin the shape of data ",
                   data.dims());
  return product(data.dims(), axes, data.rank());
}

/// The shape of an output with this many rows.
inline result<shape> partition_dims(const kernel_context& at, int64_t rows) {
  auto row = at.input(0).dims().extents().subspan(static_cast<size_t>(at.input(1).rank()));
  std::vector<int64_t> extents{rows};
  extents.insert(extents.end(), row.begin(), row.end());
  return shape::make(extents);
}

} // namespace troupe::ops

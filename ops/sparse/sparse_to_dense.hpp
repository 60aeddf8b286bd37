// Argument checks of SparseToDense, on all devices.
#pragma once
#include "troupe/ops/sparse/shared/sparse.hpp"

namespace troupe::ops {

/// The indices as a list of coordinates, from any of the accepted shapes.
inline result<tensor> listed(const tensor& indices) {
  if (indices.rank() == 2)
    return indices;
  if (indices.rank() > 2)
    return invalid("indices must have at most 2 axes, got shape ", indices.dims());
  return indices.reshaped(shape{indices.elements(), 1});
}

inline status check_scattered(const tensor& values, const tensor& otherwise, int64_t count) {
  if (otherwise.rank() != 0)
    return invalid("default_value must be a scalar, got shape ", otherwise.dims());
  if (values.rank() > 1 || (values.rank() == 1 && values.elements() != count))
    return invalid("there must be a value for each index, or a scalar for all, got shape ",
                   values.dims(), " for ", count, " indices");
  return {};
}

} // namespace troupe::ops

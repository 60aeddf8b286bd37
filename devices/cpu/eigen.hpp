// Views of tensors as Eigen arrays, for sources of CPU kernels. Including Eigen costs 1.5 s.
#pragma once
#include "troupe/runtime/types/tensor.hpp"

#include <Eigen/Core>

namespace troupe {

template <class T>
using flat_map = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;
template <class T>
using rows_map = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

/// All elements in row-major order. As with `tensor::data`, a const tensor does not make the
/// elements const.
template <class T>
flat_map<T> flat(const tensor& source) {
  return {source.data<T>(), source.elements()};
}

/// The elements [begin, end) in row-major order, such as one range of a parallel loop.
template <class T>
flat_map<T> flat(const tensor& source, int64_t begin, int64_t end) {
  return {source.data<T>() + begin, end - begin};
}

/// The number of rows along the last axis: the product of all other extents; 1 for a scalar.
inline int64_t row_count(const shape& dims) {
  int64_t rows = 1;
  for (int axis = 0; axis + 1 < dims.rank(); ++axis)
    rows *= dims[axis];
  return rows;
}

/// The extent of the last axis; 1 for a scalar.
inline int64_t row_size(const shape& dims) { return dims.rank() == 0 ? 1 : dims[dims.rank() - 1]; }

/// The tensor as a matrix whose rows run along the last axis.
template <class T>
rows_map<T> rows(const tensor& source) {
  return {source.data<T>(), row_count(source.dims()), row_size(source.dims())};
}

} // namespace troupe

// Tensors seen as Eigen arrays, for the sources of CPU kernels. Including Eigen costs 1.5 s.
#pragma once
#include "troupe/runtime/types/tensor.hpp"

#include <Eigen/Core>

namespace troupe {

template <class T>
using flat_map = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;
template <class T>
using rows_map = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

/// All elements in row-major order. As with `tensor::data`, the tensor's constness does not protect
/// its elements.
template <class T>
flat_map<T> flat(const tensor& of) {
  return {of.data<T>(), of.elements()};
}

/// The elements [begin, end) of the above, such as one range of a parallel loop.
template <class T>
flat_map<T> flat(const tensor& of, int64_t begin, int64_t end) {
  return {of.data<T>() + begin, end - begin};
}

/// How many rows the last axis has: the product of all other extents; one for a scalar.
inline int64_t row_count(const shape& dims) {
  int64_t rows = 1;
  for (int axis = 0; axis + 1 < dims.rank(); ++axis)
    rows *= dims[axis];
  return rows;
}

/// The extent of the last axis; one for a scalar.
inline int64_t row_size(const shape& dims) { return dims.rank() == 0 ? 1 : dims[dims.rank() - 1]; }

/// The tensor as a matrix whose rows run along the last axis.
template <class T>
rows_map<T> rows(const tensor& of) {
  return {of.data<T>(), row_count(of.dims()), row_size(of.dims())};
}

} // namespace troupe

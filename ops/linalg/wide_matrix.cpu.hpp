// Matrices of any precision as Eigen's matrices of doubles, for sources of dense_algebra.hpp.
#pragma once
#include <complex>
#include <cstdint>
#include <type_traits>

#include <Eigen/Core>

namespace troupe::ops {

template <class T>
using wide = std::conditional_t<std::is_floating_point_v<T>, double, std::complex<double>>;
template <class T>
using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
/// Decompositions are compiled for this order only.
template <class T>
using wide_matrix = Eigen::Matrix<wide<T>, Eigen::Dynamic, Eigen::Dynamic>;

template <class T>
wide_matrix<T> read_matrix(const T* from, int64_t rows, int64_t columns) {
  return Eigen::Map<const matrix<T>>{from, rows, columns}.template cast<wide<T>>();
}

template <class T, class From>
void write_matrix(const From& from, T* to) {
  Eigen::Map<matrix<T>>{to, from.rows(), from.cols()} = from.template cast<T>();
}

} // namespace troupe::ops

// Conversion of matrices of any precision to Eigen matrices of doubles, for sources of
// dense_algebra.hpp.
#pragma once
#include <complex>
#include <cstdint>
#include <type_traits>

#include <Eigen/Core>

namespace troupe::ops {

/// The type in which matrices of T are computed.
template <class T>
using wide = std::conditional_t<std::is_floating_point_v<T>, double, std::complex<double>>;
/// All matrices have this one type, because each instantiation of Eigen's decompositions takes
/// seconds to compile. For the same reason only the decompositions use Eigen's code: elements are
/// read and written in loops, and one function computes all products.
template <class W>
using dense = Eigen::Matrix<W, Eigen::Dynamic, Eigen::Dynamic>;

template <class T>
dense<wide<T>> read_matrix(const T* from, int64_t rows, int64_t columns) {
  dense<wide<T>> converted(rows, columns);
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = 0; i < rows; ++i)
      converted(i, j) = static_cast<wide<T>>(from[i * columns + j]);
  return converted;
}

template <class T>
void write_matrix(const dense<wide<T>>& from, T* to) {
  for (int64_t i = 0; i < from.rows(); ++i)
    for (int64_t j = 0; j < from.cols(); ++j)
      *to++ = static_cast<T>(from(i, j));
}

/// The conjugate transpose.
template <class W>
dense<W> adjoint(const dense<W>& a);
template <class W>
dense<W> product(const dense<W>& a, const dense<W>& b);

} // namespace troupe::ops

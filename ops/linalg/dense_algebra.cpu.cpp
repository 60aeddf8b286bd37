#include "troupe/ops/linalg/dense_algebra.hpp"

#include "troupe/ops/linalg/wide_matrix.cpu.hpp"

#include <limits>

#include <Eigen/Cholesky>
#include <Eigen/LU>

namespace troupe::ops {
namespace {

template <class W>
using square = Eigen::Matrix<W, Eigen::Dynamic, Eigen::Dynamic>;

// Not inlined, so that each is compiled for two types only.
template <class W>
[[gnu::noinline]] Eigen::PartialPivLU<square<W>> pivoted(const square<W>& a) {
  return Eigen::PartialPivLU<square<W>>{a};
}

template <class W>
[[gnu::noinline]] bool solve_in_place(const square<W>& a, square<W>& x) {
  if (a.rows() == 0)
    return true;
  auto lu = pivoted<W>(a);
  // NaN on the diagonal is no pivot either.
  if (!(lu.matrixLU().diagonal().cwiseAbs().minCoeff() > 0))
    return false;
  x = lu.solve(square<W>{x});
  return true;
}

template <class W>
[[gnu::noinline]] bool factorize_in_place(square<W>& a) {
  return Eigen::LLT<Eigen::Ref<square<W>>>{a}.info() == Eigen::Success;
}

template <class W>
[[gnu::noinline]] void solve_triangle(const square<W>& a, bool lower, square<W>& x) {
  if (lower)
    a.template triangularView<Eigen::Lower>().solveInPlace(x);
  else
    a.template triangularView<Eigen::Upper>().solveInPlace(x);
}

template <class W>
[[gnu::noinline]] bool solve_normal(const square<W>& a, double l2, square<W>& x) {
  square<W> turned = a.adjoint(), gramian;
  auto tall = a.rows() >= a.cols();
  if (tall) {
    gramian.noalias() = turned * a;
    x = turned * square<W>{x};
  } else {
    gramian.noalias() = a * turned;
  }
  gramian.diagonal().array() += W{l2};
  if (!factorize_in_place<W>(gramian))
    return false;
  solve_triangle<W>(gramian, true, x);
  solve_triangle<W>(gramian.adjoint(), false, x);
  if (!tall)
    x = turned * square<W>{x};
  return true;
}

} // namespace

template <class T>
bool solve(const T* a, int64_t n, bool adjoint, const T* b, T* x, int64_t columns) {
  auto of = read_matrix(a, n, n);
  if (adjoint)
    of.adjointInPlace();
  wide_matrix<T> solution = wide_matrix<T>::Identity(n, columns);
  if (b)
    solution = read_matrix(b, n, columns);
  if (!solve_in_place<wide<T>>(of, solution))
    return false;
  write_matrix(solution, x);
  return true;
}

template <class T>
log_determinant<T> find_log_determinant(const T* a, int64_t n) {
  if (n == 0)
    return {T(1), T(0)};
  auto lu = pivoted<wide<T>>(read_matrix(a, n, n));
  auto sign = wide<T>(static_cast<double>(lu.permutationP().determinant()));
  double log = 0;
  for (int64_t i = 0; i < n; ++i) {
    wide<T> pivot = lu.matrixLU()(i, i);
    auto size = std::abs(pivot);
    if (size == 0)
      return {T(0), T(-std::numeric_limits<float>::infinity())};
    sign *= pivot / size;
    log += std::log(size);
  }
  return {static_cast<T>(sign), static_cast<T>(wide<T>(log))};
}

template <class T>
T find_determinant(const T* a, int64_t n) {
  if (n == 0)
    return T(1);
  return static_cast<T>(pivoted<wide<T>>(read_matrix(a, n, n)).determinant());
}

template <class T>
bool factorize(const T* a, int64_t n, T* l) {
  wide_matrix<T> factor = read_matrix(a, n, n).template triangularView<Eigen::Lower>();
  if (!factorize_in_place<wide<T>>(factor))
    return false;
  write_matrix(factor, l);
  return true;
}

template <class T>
void solve_triangular(const T* a, int64_t n, bool lower, bool adjoint, const T* b, T* x,
                      int64_t columns) {
  auto of = read_matrix(a, n, n), solution = read_matrix(b, n, columns);
  if (adjoint)
    of.adjointInPlace();
  solve_triangle<wide<T>>(of, lower != adjoint, solution);
  write_matrix(solution, x);
}

template <class T>
bool solve_normal_equations(const T* a, int64_t m, int64_t n, double l2, const T* b, T* x,
                            int64_t columns) {
  auto solution = read_matrix(b, m, columns);
  if (!solve_normal<wide<T>>(read_matrix(a, m, n), l2, solution))
    return false;
  write_matrix(solution, x);
  return true;
}

template bool solve(const float*, int64_t, bool, const float*, float*, int64_t);
template log_determinant<float> find_log_determinant(const float*, int64_t);
template float find_determinant(const float*, int64_t);
template bool factorize(const float*, int64_t, float*);
template void solve_triangular(const float*, int64_t, bool, bool, const float*, float*, int64_t);
template bool solve_normal_equations(const float*, int64_t, int64_t, double, const float*, float*,
                                     int64_t);

template bool solve(const double*, int64_t, bool, const double*, double*, int64_t);
template log_determinant<double> find_log_determinant(const double*, int64_t);
template double find_determinant(const double*, int64_t);
template bool factorize(const double*, int64_t, double*);
template void solve_triangular(const double*, int64_t, bool, bool, const double*, double*, int64_t);
template bool solve_normal_equations(const double*, int64_t, int64_t, double, const double*,
                                     double*, int64_t);

template bool solve(const std::complex<float>*, int64_t, bool, const std::complex<float>*,
                    std::complex<float>*, int64_t);
template log_determinant<std::complex<float>> find_log_determinant(const std::complex<float>*,
                                                                   int64_t);
template std::complex<float> find_determinant(const std::complex<float>*, int64_t);
template bool factorize(const std::complex<float>*, int64_t, std::complex<float>*);
template void solve_triangular(const std::complex<float>*, int64_t, bool, bool,
                               const std::complex<float>*, std::complex<float>*, int64_t);
template bool solve_normal_equations(const std::complex<float>*, int64_t, int64_t, double,
                                     const std::complex<float>*, std::complex<float>*, int64_t);

template bool solve(const std::complex<double>*, int64_t, bool, const std::complex<double>*,
                    std::complex<double>*, int64_t);
template log_determinant<std::complex<double>> find_log_determinant(const std::complex<double>*,
                                                                    int64_t);
template std::complex<double> find_determinant(const std::complex<double>*, int64_t);
template bool factorize(const std::complex<double>*, int64_t, std::complex<double>*);
template void solve_triangular(const std::complex<double>*, int64_t, bool, bool,
                               const std::complex<double>*, std::complex<double>*, int64_t);
template bool solve_normal_equations(const std::complex<double>*, int64_t, int64_t, double,
                                     const std::complex<double>*, std::complex<double>*, int64_t);

} // namespace troupe::ops

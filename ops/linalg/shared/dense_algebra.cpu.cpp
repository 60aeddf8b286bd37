// Systems of linear equations: by elimination, by Cholesky factorization, and triangular.
#include "troupe/ops/linalg/shared/dense_algebra.hpp"

#include "troupe/ops/linalg/shared/wide_matrix.cpu.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Cholesky>
#include <Eigen/LU>

namespace troupe::ops {
namespace {

// A copy of one triangle.
template <class W>
void clear_above_diagonal(dense<W>& a) {
  for (int64_t j = 1; j < a.cols(); ++j)
    std::fill_n(&a(0, j), std::min<int64_t>(j, a.rows()), W{});
}

template <class W>
bool solve_in_place(const dense<W>& a, dense<W>& x) {
  if (a.rows() == 0)
    return true;
  Eigen::PartialPivLU<dense<W>> lu{a};
  for (int64_t i = 0; i < a.rows(); ++i)
    if (!(std::abs(lu.matrixLU()(i, i)) > 0)) // a NaN on the diagonal is no pivot
      return false;
  x = lu.solve(x);
  return true;
}

template <class W>
bool factorize_in_place(dense<W>& a) {
  Eigen::LLT<dense<W>> factorization{a};
  a = factorization.matrixLLT();
  clear_above_diagonal(a);
  return factorization.info() == Eigen::Success;
}

template <class W>
void solve_triangle(const dense<W>& a, bool lower, dense<W>& x) {
  if (lower)
    a.template triangularView<Eigen::Lower>().solveInPlace(x);
  else
    a.template triangularView<Eigen::Upper>().solveInPlace(x);
}

template <class W>
bool solve_normal(const dense<W>& a, double l2, dense<W>& x) {
  auto turned = adjoint(a);
  auto tall = a.rows() >= a.cols();
  auto gramian = tall ? product(turned, a) : product(a, turned);
  if (tall)
    x = product(turned, x);
  for (int64_t i = 0; i < gramian.rows(); ++i)
    gramian(i, i) += W{l2};
  if (!factorize_in_place(gramian))
    return false;
  solve_triangle(gramian, true, x);
  solve_triangle(adjoint(gramian), false, x);
  if (!tall)
    x = product(turned, x);
  return true;
}

} // namespace

template <class W>
dense<W> adjoint(const dense<W>& a) {
  return a.adjoint();
}

template <class W>
dense<W> product(const dense<W>& a, const dense<W>& b) {
  return a * b;
}

template <class T>
bool solve(const T* a, int64_t n, bool with_adjoint, const T* b, T* x, int64_t columns) {
  auto dense_a = read_matrix(a, n, n);
  if (with_adjoint)
    dense_a = adjoint(dense_a);
  dense<wide<T>> solution;
  if (b)
    solution = read_matrix(b, n, columns);
  else
    solution.setIdentity(n, columns);
  if (!solve_in_place(dense_a, solution))
    return false;
  write_matrix(solution, x);
  return true;
}

template <class T>
log_determinant<T> find_log_determinant(const T* a, int64_t n) {
  if (n == 0)
    return {T(1), T(0)};
  Eigen::PartialPivLU<dense<wide<T>>> lu{read_matrix(a, n, n)};
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
  return static_cast<T>(Eigen::PartialPivLU<dense<wide<T>>>{read_matrix(a, n, n)}.determinant());
}

template <class T>
bool factorize(const T* a, int64_t n, T* l) {
  auto factor = read_matrix(a, n, n);
  clear_above_diagonal(factor);
  if (!factorize_in_place(factor))
    return false;
  write_matrix(factor, l);
  return true;
}

template <class T>
void solve_triangular(const T* a, int64_t n, bool lower, bool with_adjoint, const T* b, T* x,
                      int64_t columns) {
  auto dense_a = read_matrix(a, n, n), solution = read_matrix(b, n, columns);
  if (with_adjoint)
    dense_a = adjoint(dense_a);
  solve_triangle(dense_a, lower != with_adjoint, solution);
  write_matrix(solution, x);
}

template <class T>
bool solve_normal_equations(const T* a, int64_t m, int64_t n, double l2, const T* b, T* x,
                            int64_t columns) {
  auto solution = read_matrix(b, m, columns);
  if (!solve_normal(read_matrix(a, m, n), l2, solution))
    return false;
  write_matrix(solution, x);
  return true;
}

template dense<double> adjoint(const dense<double>&);
template dense<double> product(const dense<double>&, const dense<double>&);
template dense<std::complex<double>> adjoint(const dense<std::complex<double>>&);
template dense<std::complex<double>> product(const dense<std::complex<double>>&,
                                             const dense<std::complex<double>>&);

#define TROUPE_INSTANTIATE(T)                                                                      \
  template bool solve(const T*, int64_t, bool, const T*, T*, int64_t);                             \
  template log_determinant<T> find_log_determinant(const T*, int64_t);                             \
  template T find_determinant(const T*, int64_t);                                                  \
  template bool factorize(const T*, int64_t, T*);                                                  \
  template void solve_triangular(const T*, int64_t, bool, bool, const T*, T*, int64_t);            \
  template bool solve_normal_equations(const T*, int64_t, int64_t, double, const T*, T*, int64_t);
TROUPE_INSTANTIATE(float)
TROUPE_INSTANTIATE(double)
TROUPE_INSTANTIATE(std::complex<float>)
TROUPE_INSTANTIATE(std::complex<double>)
#undef TROUPE_INSTANTIATE

} // namespace troupe::ops

#include "troupe/ops/solvers.hpp"

#include <complex>
#include <limits>

#include <Eigen/Cholesky>
#include <Eigen/LU>

namespace troupe::ops {
namespace {

template <class T>
using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using view = Eigen::Map<matrix<T>>;
template <class T>
using const_view = Eigen::Map<const matrix<T>>;

template <class T>
matrix<T> turned(const T* a, int64_t n, bool adjoint) {
  const_view<T> stored{a, n, n};
  if (adjoint)
    return stored.adjoint();
  return stored;
}

// NaN on the diagonal is none either.
template <class Diagonal>
bool none_is_zero(const Diagonal& diagonal) {
  return diagonal.size() == 0 || diagonal.cwiseAbs().minCoeff() > 0;
}

} // namespace

template <class T>
bool solve(const T* a, int64_t n, bool adjoint, const T* b, T* x, int64_t columns) {
  Eigen::PartialPivLU<matrix<T>> lu{turned(a, n, adjoint)};
  if (!none_is_zero(lu.matrixLU().diagonal()))
    return false;
  view<T> solution{x, n, columns};
  if (b)
    solution = const_view<T>{b, n, columns};
  else
    solution.setIdentity();
  // As lu.solve() does, but in place.
  solution = lu.permutationP() * matrix<T>{solution};
  lu.matrixLU().template triangularView<Eigen::UnitLower>().solveInPlace(solution);
  lu.matrixLU().template triangularView<Eigen::Upper>().solveInPlace(solution);
  return true;
}

template <class T>
log_determinant<T> find_log_determinant(const T* a, int64_t n) {
  if (n == 0)
    return {T(1), T(0)};
  Eigen::PartialPivLU<matrix<T>> lu{const_view<T>{a, n, n}};
  using real = typename Eigen::NumTraits<T>::Real;
  auto sign = T(static_cast<real>(lu.permutationP().determinant()));
  real log = 0;
  for (int64_t i = 0; i < n; ++i) {
    T pivot = lu.matrixLU()(i, i);
    auto size = std::abs(pivot);
    if (size == 0)
      return {T(0), T(-std::numeric_limits<real>::infinity())};
    sign *= pivot / size;
    log += std::log(size);
  }
  return {sign, T(log)};
}

template <class T>
T find_determinant(const T* a, int64_t n) {
  return n == 0 ? T(1) : Eigen::PartialPivLU<matrix<T>>{const_view<T>{a, n, n}}.determinant();
}

template <class T>
bool factorize(const T* a, int64_t n, T* l) {
  view<T> factor{l, n, n};
  factor = const_view<T>{a, n, n}.template triangularView<Eigen::Lower>();
  Eigen::LLT<Eigen::Ref<matrix<T>>, Eigen::Lower> found{factor};
  return found.info() == Eigen::Success;
}

template <class T>
void solve_triangular(const T* a, int64_t n, bool lower, bool adjoint, T* x, int64_t columns) {
  const_view<T> stored{a, n, n};
  view<T> solution{x, n, columns};
  matrix<T> copy;
  const T* from = a;
  if (adjoint) {
    copy = stored.adjoint();
    from = copy.data();
  }
  const_view<T> triangle{from, n, n};
  if (lower != adjoint)
    triangle.template triangularView<Eigen::Lower>().solveInPlace(solution);
  else
    triangle.template triangularView<Eigen::Upper>().solveInPlace(solution);
}

template bool solve(const float*, int64_t, bool, const float*, float*, int64_t);
template log_determinant<float> find_log_determinant(const float*, int64_t);
template float find_determinant(const float*, int64_t);
template bool factorize(const float*, int64_t, float*);
template void solve_triangular(const float*, int64_t, bool, bool, float*, int64_t);

template bool solve(const double*, int64_t, bool, const double*, double*, int64_t);
template log_determinant<double> find_log_determinant(const double*, int64_t);
template double find_determinant(const double*, int64_t);
template bool factorize(const double*, int64_t, double*);
template void solve_triangular(const double*, int64_t, bool, bool, double*, int64_t);

template bool solve(const std::complex<float>*, int64_t, bool, const std::complex<float>*,
                    std::complex<float>*, int64_t);
template log_determinant<std::complex<float>> find_log_determinant(const std::complex<float>*,
                                                                   int64_t);
template std::complex<float> find_determinant(const std::complex<float>*, int64_t);
template bool factorize(const std::complex<float>*, int64_t, std::complex<float>*);
template void solve_triangular(const std::complex<float>*, int64_t, bool, bool,
                               std::complex<float>*, int64_t);

template bool solve(const std::complex<double>*, int64_t, bool, const std::complex<double>*,
                    std::complex<double>*, int64_t);
template log_determinant<std::complex<double>> find_log_determinant(const std::complex<double>*,
                                                                    int64_t);
template std::complex<double> find_determinant(const std::complex<double>*, int64_t);
template bool factorize(const std::complex<double>*, int64_t, std::complex<double>*);
template void solve_triangular(const std::complex<double>*, int64_t, bool, bool,
                               std::complex<double>*, int64_t);

} // namespace troupe::ops

// Decompositions into orthonormal vectors: QR, eigenvalues, singular values.
#include "troupe/ops/linalg/shared/dense_algebra.hpp"

#include "troupe/ops/linalg/shared/wide_matrix.cpu.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>

namespace troupe::ops {
namespace {

template <class W>
bool is_finite(const dense<W>& a) {
  return std::all_of(a.data(), a.data() + a.size(), [](const W& x) {
    return std::isfinite(std::real(x)) && std::isfinite(std::imag(x));
  });
}

// TODO(perf): Eigen's BDCSVD is faster for large matrices, but takes a minute to compile.
template <class W>
struct singular_values {
  Eigen::VectorXd values;
  dense<W> u, v;
};

// These functions are not inlined, so that they are compiled for two types only.
template <class W>
[[gnu::noinline]] singular_values<W> decomposed(const dense<W>& a, unsigned options) {
  Eigen::JacobiSVD<dense<W>, Eigen::HouseholderQRPreconditioner> solver{a, options};
  singular_values<W> decomposed_values{solver.singularValues(), {}, {}};
  if (options != 0) {
    decomposed_values.u = solver.matrixU();
    decomposed_values.v = solver.matrixV();
  }
  return decomposed_values;
}

template <class W>
struct eigenvalues {
  Eigen::VectorXd values;
  dense<W> vectors;
};

template <class W>
[[gnu::noinline]] std::optional<eigenvalues<W>> solved(const dense<W>& a, int options) {
  Eigen::SelfAdjointEigenSolver<dense<W>> solver{a, options};
  if (solver.info() != Eigen::Success)
    return {};
  eigenvalues<W> decomposed_values{solver.eigenvalues(), {}};
  if (options == Eigen::ComputeEigenvectors)
    decomposed_values.vectors = solver.eigenvectors();
  return decomposed_values;
}

// q is m x p, r is p x n, and a is not empty.
template <class W>
[[gnu::noinline]] void factorize(const dense<W>& a, dense<W>& q, dense<W>& r) {
  Eigen::HouseholderQR<dense<W>> solver{a};
  q.applyOnTheLeft(solver.householderQ());
  for (int64_t j = 0; j < r.cols(); ++j)
    std::copy_n(&solver.matrixQR()(0, j), std::min(j + 1, r.rows()), &r(0, j));
}

template <class T>
void write_reals(const Eigen::VectorXd& from, T* to) {
  std::ranges::transform(from, to, [](double x) { return static_cast<T>(wide<T>(x)); });
}

} // namespace

template <class T>
void factorize_qr(const T* a, int64_t m, int64_t n, int64_t p, T* q, T* r) {
  dense<wide<T>> to_q, to_r;
  to_q.setIdentity(m, p);
  to_r.setZero(p, n);
  if (m > 0 && n > 0)
    factorize(read_matrix(a, m, n), to_q, to_r);
  write_matrix(to_q, q);
  write_matrix(to_r, r);
}

template <class T>
bool find_eigenvalues(const T* a, int64_t n, T* values, T* v) {
  auto lower = read_matrix(a, n, n);
  for (int64_t j = 1; j < n; ++j)
    std::fill_n(&lower(0, j), j, wide<T>{});
  if (!is_finite(lower)) // the iteration would only end at its limit
    return false;
  auto solution = solved(lower, v ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
  if (!solution)
    return false;
  write_reals(solution->values, values);
  if (v)
    write_matrix(solution->vectors, v);
  return true;
}

template <class T>
void decompose(const T* a, int64_t m, int64_t n, bool full, T* s, T* u, T* v) {
  auto p = std::min(m, n), u_columns = full ? m : p, v_columns = full ? n : p;
  auto dense_a = read_matrix(a, m, n);
  if (p == 0 || !is_finite(dense_a)) {
    auto nan = T(std::numeric_limits<float>::quiet_NaN());
    std::fill_n(s, p, nan);
    if (u) {
      auto fill = [&](T* to, int64_t rows, int64_t columns) {
        std::fill_n(to, rows * columns, p > 0 ? nan : T{});
        for (int64_t i = 0; p == 0 && i < std::min(rows, columns); ++i)
          to[i * columns + i] = T(1);
      };
      fill(u, m, u_columns);
      fill(v, n, v_columns);
    }
    return;
  }
  unsigned thin = Eigen::ComputeThinU | Eigen::ComputeThinV;
  unsigned full_vectors = Eigen::ComputeFullU | Eigen::ComputeFullV;
  auto svd = decomposed(dense_a, !u ? 0 : full ? full_vectors : thin);
  write_reals(svd.values, s);
  if (u) {
    write_matrix(svd.u, u);
    write_matrix(svd.v, v);
  }
}

template <class T>
void solve_least_squares(const T* a, int64_t m, int64_t n, const T* b, T* x, int64_t columns) {
  auto svd = decomposed(read_matrix(a, m, n), Eigen::ComputeThinU | Eigen::ComputeThinV);
  // Values below the precision of the type of a count as 0.
  using real = typename Eigen::NumTraits<T>::Real;
  auto threshold = svd.values(0) * static_cast<double>(std::max(m, n)) *
                   static_cast<double>(std::numeric_limits<real>::epsilon());
  auto solution = product(adjoint(svd.u), read_matrix(b, m, columns));
  for (int64_t i = 0; i < solution.rows(); ++i) {
    auto value = svd.values(i);
    auto inverse_value = value > threshold ? 1 / value : 0.0;
    for (int64_t j = 0; j < columns; ++j)
      solution(i, j) *= inverse_value;
  }
  write_matrix(product(svd.v, solution), x);
}

#define TROUPE_INSTANTIATE(T)                                                                      \
  template void factorize_qr(const T*, int64_t, int64_t, int64_t, T*, T*);                         \
  template bool find_eigenvalues(const T*, int64_t, T*, T*);                                       \
  template void decompose(const T*, int64_t, int64_t, bool, T*, T*, T*);                           \
  template void solve_least_squares(const T*, int64_t, int64_t, const T*, T*, int64_t);
TROUPE_INSTANTIATE(float)
TROUPE_INSTANTIATE(double)
TROUPE_INSTANTIATE(std::complex<float>)
TROUPE_INSTANTIATE(std::complex<double>)
#undef TROUPE_INSTANTIATE

} // namespace troupe::ops

#include "troupe/ops/linalg/dense_algebra.hpp"
#include "troupe/ops/linalg/wide_matrix.cpu.hpp"

#include <algorithm>
#include <limits>

#include <Eigen/SVD>

namespace troupe::ops {
namespace {

// TODO(perf): Eigen's BDCSVD is faster for large matrices, but takes a minute to compile.
template <class W>
using decomposition = Eigen::JacobiSVD<Eigen::Matrix<W, Eigen::Dynamic, Eigen::Dynamic>,
                                       Eigen::HouseholderQRPreconditioner>;

// Not inlined, so that it is compiled for two types only.
template <class W>
[[gnu::noinline]] decomposition<W>
decomposed(const Eigen::Matrix<W, Eigen::Dynamic, Eigen::Dynamic>& a, unsigned options) {
  return decomposition<W>{a, options};
}

} // namespace

template <class T>
void decompose(const T* a, int64_t m, int64_t n, bool full, T* s, T* u, T* v) {
  auto p = std::min(m, n), u_columns = full ? m : p, v_columns = full ? n : p;
  auto of = read_matrix(a, m, n);
  if (p == 0 || !of.allFinite()) {
    auto nan = T(std::numeric_limits<float>::quiet_NaN());
    std::fill_n(s, p, nan);
    if (u) {
      auto fill = [&](T* to, int64_t rows, int64_t columns) {
        Eigen::Map<matrix<T>> all{to, rows, columns};
        all.setIdentity();
        if (p > 0)
          all.setConstant(nan);
      };
      fill(u, m, u_columns);
      fill(v, n, v_columns);
    }
    return;
  }
  unsigned thin = Eigen::ComputeThinU | Eigen::ComputeThinV;
  unsigned whole = Eigen::ComputeFullU | Eigen::ComputeFullV;
  auto found = decomposed<wide<T>>(of, !u ? 0 : full ? whole : thin);
  write_matrix(found.singularValues().template cast<wide<T>>(), s);
  if (u) {
    write_matrix(found.matrixU(), u);
    write_matrix(found.matrixV(), v);
  }
}

template <class T>
void solve_least_squares(const T* a, int64_t m, int64_t n, const T* b, T* x, int64_t columns) {
  auto found = decomposed<wide<T>>(read_matrix(a, m, n), Eigen::ComputeThinU | Eigen::ComputeThinV);
  // What the type of a cannot tell from 0 is 0.
  using real = typename Eigen::NumTraits<T>::Real;
  auto least = found.singularValues()(0) * static_cast<double>(std::max(m, n)) *
               static_cast<double>(std::numeric_limits<real>::epsilon());
  wide_matrix<T> solution = found.matrixU().adjoint() * read_matrix(b, m, columns);
  for (int64_t i = 0; i < solution.rows(); ++i) {
    auto value = found.singularValues()(i);
    solution.row(i) *= value > least ? 1 / value : 0.0;
  }
  write_matrix(wide_matrix<T>{found.matrixV() * solution}, x);
}

template void decompose(const float*, int64_t, int64_t, bool, float*, float*, float*);
template void solve_least_squares(const float*, int64_t, int64_t, const float*, float*, int64_t);

template void decompose(const double*, int64_t, int64_t, bool, double*, double*, double*);
template void solve_least_squares(const double*, int64_t, int64_t, const double*, double*, int64_t);

template void decompose(const std::complex<float>*, int64_t, int64_t, bool, std::complex<float>*,
                        std::complex<float>*, std::complex<float>*);
template void solve_least_squares(const std::complex<float>*, int64_t, int64_t,
                                  const std::complex<float>*, std::complex<float>*, int64_t);

template void decompose(const std::complex<double>*, int64_t, int64_t, bool, std::complex<double>*,
                        std::complex<double>*, std::complex<double>*);
template void solve_least_squares(const std::complex<double>*, int64_t, int64_t,
                                  const std::complex<double>*, std::complex<double>*, int64_t);

} // namespace troupe::ops

#include "troupe/ops/attr_state.hpp"
#include "troupe/ops/linalg/matrices.cpu.hpp"
#include "troupe/ops/linalg/wide_matrix.cpu.hpp"

#include <algorithm>

#include <Eigen/QR>

namespace troupe::ops::qr_cpu {
namespace {

// Not inlined, so that it is compiled for two types only. q is m x p, r is p x n, and a is not
// empty.
template <class W>
[[gnu::noinline]] void factorize(const Eigen::Matrix<W, Eigen::Dynamic, Eigen::Dynamic>& a,
                                 Eigen::Matrix<W, Eigen::Dynamic, Eigen::Dynamic>& q,
                                 Eigen::Matrix<W, Eigen::Dynamic, Eigen::Dynamic>& r) {
  Eigen::HouseholderQR<Eigen::Matrix<W, Eigen::Dynamic, Eigen::Dynamic>> found{a};
  q.applyOnTheLeft(found.householderQ());
  r.template triangularView<Eigen::Upper>() = found.matrixQR().topRows(r.rows());
}

template <class T>
void decompose(const T* a, int64_t m, int64_t n, int64_t p, T* q, T* r) {
  wide_matrix<T> to_q = wide_matrix<T>::Identity(m, p), to_r = wide_matrix<T>::Zero(p, n);
  if (m > 0 && n > 0)
    factorize<wide<T>>(read_matrix(a, m, n), to_q, to_r);
  write_matrix(to_q, q);
  write_matrix(to_r, r);
}

struct factorization {
  template <class T>
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto of, matrices_of(at.input(0)));
    auto m = of.rows, n = of.columns, p = at.state<bool>() ? m : std::min(m, n);
    TROUPE_ASSIGN(auto q_dims, with_matrix(at.input(0).dims(), {m, p}));
    TROUPE_ASSIGN(auto r_dims, with_matrix(at.input(0).dims(), {p, n}));
    TROUPE_ASSIGN(auto* q, at.allocate(0, q_dims));
    TROUPE_ASSIGN(auto* r, at.allocate(1, r_dims));
    const auto* from = at.input(0).data<T>();
    auto *to_q = q->template data<T>(), *to_r = r->template data<T>();
    auto work = 3 * static_cast<double>(of.size()) * static_cast<double>(p);
    return for_each_matrix(at, of.count, work, [&](int64_t i) -> status {
      decompose(from + i * of.size(), m, n, p, to_q + i * m * p, to_r + i * p * n);
      return {};
    });
  }
};

} // namespace

extern constexpr kernel_def qr_cpu{
    .op = "Qr",
    .run = kernels_of<factorization>(types::fields),
    .prepare = keep_attr<bool, "full_matrices">,
};

} // namespace troupe::ops::qr_cpu

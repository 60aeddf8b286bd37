#include "troupe/ops/attr_state.hpp"
#include "troupe/ops/linalg/matrices.cpu.hpp"

#include <Eigen/QR>

namespace troupe::ops {
namespace {

template <class T>
using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// q is m x p, r is p x n.
template <class T>
void decompose(const T* a, int64_t m, int64_t n, int64_t p, T* q, T* r) {
  Eigen::Map<matrix<T>> to_q{q, m, p}, to_r{r, p, n};
  to_q.setIdentity();
  to_r.setZero();
  if (m == 0 || n == 0)
    return;
  Eigen::HouseholderQR<matrix<T>> found{Eigen::Map<const matrix<T>>{a, m, n}};
  to_q.applyOnTheLeft(found.householderQ());
  to_r.template triangularView<Eigen::Upper>() = found.matrixQR().topRows(p);
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

} // namespace troupe::ops

#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/linalg/shared/dense_algebra.hpp"
#include "troupe/ops/linalg/shared/matrices.cpu.hpp"

#include <algorithm>

namespace troupe::ops::qr_cpu {
namespace {

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
      factorize_qr(from + i * of.size(), m, n, p, to_q + i * m * p, to_r + i * p * n);
      return {};
    });
  }
};

} // namespace

extern constexpr kernel_def qr_cpu{
    .op = "Qr",
    .run = kernels_of<factorization>(types::fields),
    .prepare = cache_attr<bool, "full_matrices">,
};

} // namespace troupe::ops::qr_cpu

#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/linalg/shared/dense_algebra.hpp"
#include "troupe/ops/linalg/shared/matrices.cpu.hpp"
#include "troupe/ops/linalg/shared/svd.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace troupe::ops::decomposition_cpu {
namespace {

struct cholesky_factorization {
  template <class T>
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto batch, square_matrices_of(at.input(0)));
    TROUPE_ASSIGN(auto* out, at.allocate(0, at.input(0).dims()));
    const auto* from = at.input(0).data<T>();
    auto* to = out->template data<T>();
    auto nan = T(std::numeric_limits<decltype(std::abs(T{}))>::quiet_NaN());
    return for_each_matrix(at, batch.count, 0.4 * cube(batch.rows), [&](int64_t i) -> status {
      auto* l = to + i * batch.size();
      if (!factorize<T>(from + i * batch.size(), batch.rows, l))
        for (int64_t row = 0; row < batch.rows; ++row)
          std::fill_n(std::fill_n(l + row * batch.columns, row + 1, nan), batch.columns - row - 1,
                      T{});
      return {};
    });
  }
};

struct qr_factorization {
  template <class T>
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto batch, matrices_of(at.input(0)));
    auto m = batch.rows, n = batch.columns, p = at.state<bool>() ? m : std::min(m, n);
    TROUPE_ASSIGN(auto q_dims, with_matrix(at.input(0).dims(), {m, p}));
    TROUPE_ASSIGN(auto r_dims, with_matrix(at.input(0).dims(), {p, n}));
    TROUPE_ASSIGN(auto* q, at.allocate(0, q_dims));
    TROUPE_ASSIGN(auto* r, at.allocate(1, r_dims));
    const auto* from = at.input(0).data<T>();
    auto *to_q = q->template data<T>(), *to_r = r->template data<T>();
    auto work = 3 * static_cast<double>(batch.size()) * static_cast<double>(p);
    return for_each_matrix(at, batch.count, work, [&](int64_t i) -> status {
      factorize_qr(from + i * batch.size(), m, n, p, to_q + i * m * p, to_r + i * p * n);
      return {};
    });
  }
};

struct self_adjoint_eig_v2_decomposition {
  template <class T>
  static status run(kernel_context& at) {
    const auto& dims = at.input(0).dims();
    TROUPE_ASSIGN(auto batch, square_matrices_of(at.input(0)));
    auto vectors = at.state<bool>();
    TROUPE_ASSIGN(auto e_dims, with_matrix(dims, {batch.rows}));
    TROUPE_ASSIGN(auto* e, at.allocate(0, e_dims));
    TROUPE_ASSIGN(auto* v, at.allocate(1, vectors ? dims : shape{0}));
    const auto* from = at.input(0).data<T>();
    auto* to_e = e->template data<T>();
    auto* to_v = vectors ? v->template data<T>() : nullptr;
    if (batch.rows == 0)
      return {};
    return for_each_matrix(at, batch.count, 9 * cube(batch.rows), [&](int64_t i) -> status {
      if (find_eigenvalues(from + i * batch.size(), batch.rows, to_e + i * batch.rows,
                           vectors ? to_v + i * batch.size() : nullptr))
        return {};
      return invalid("matrix ", i, " has no eigenvalues that can be found");
    });
  }
};

struct svd_decomposition {
  template <class T>
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto out, allocate_svd(at));
    auto [batch, p, left_columns, right_columns, s, u, v] = out;
    auto m = batch.rows, n = batch.columns;
    const auto* from = at.input(0).data<T>();
    auto* to_s = s->template data<T>();
    auto* to_u = u ? u->template data<T>() : nullptr;
    auto* to_v = v ? v->template data<T>() : nullptr;
    auto full = at.state<wanted_vectors>().full;
    auto work = 20 * static_cast<double>(batch.size()) * static_cast<double>(p);
    return for_each_matrix(at, batch.count, work, [=, size = batch.size()](int64_t i) -> status {
      decompose<T>(from + i * size, m, n, full, to_s + i * p,
                   to_u ? to_u + i * m * left_columns : nullptr,
                   to_v ? to_v + i * n * right_columns : nullptr);
      return {};
    });
  }
};

} // namespace

extern constexpr kernel_def cholesky_cpu{
    .op = "Cholesky",
    .run = kernels_of<cholesky_factorization>(types::fields),
};

extern constexpr kernel_def qr_cpu{
    .op = "Qr",
    .run = kernels_of<qr_factorization>(types::fields),
    .prepare = cache_attr<bool, "full_matrices">,
};

extern constexpr kernel_def self_adjoint_eig_v2_cpu{
    .op = "SelfAdjointEigV2",
    .run = kernels_of<self_adjoint_eig_v2_decomposition>(types::fields),
    .prepare = cache_attr<bool, "compute_v">,
};

extern constexpr kernel_def svd_cpu{
    .op = "Svd",
    .run = kernels_of<svd_decomposition>(types::fields),
    .prepare = prepare_svd,
};

} // namespace troupe::ops::decomposition_cpu

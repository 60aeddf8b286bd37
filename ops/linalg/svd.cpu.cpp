#include "troupe/ops/linalg/dense_algebra.hpp"
#include "troupe/ops/linalg/matrices.cpu.hpp"
#include "troupe/runtime/graph.hpp"

#include <algorithm>

namespace troupe::ops {
namespace {

struct wanted {
  bool vectors, full;
};

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<wanted>(
      wanted{setup.of.attr<bool>("compute_uv"), setup.of.attr<bool>("full_matrices")})};
}

struct decomposition {
  template <class T>
  static status run(kernel_context& at) {
    const auto& dims = at.input(0).dims();
    TROUPE_ASSIGN(auto of, matrices_of(at.input(0)));
    auto [vectors, full] = at.state<wanted>();
    auto m = of.rows, n = of.columns, p = std::min(m, n);
    auto k_u = full ? m : p, k_v = full ? n : p;
    TROUPE_ASSIGN(auto s_dims, with_matrix(dims, {p}));
    TROUPE_ASSIGN(auto u_dims, vectors ? with_matrix(dims, {m, k_u}) : shape{0});
    TROUPE_ASSIGN(auto v_dims, vectors ? with_matrix(dims, {n, k_v}) : shape{0});
    TROUPE_ASSIGN(auto* s, at.allocate(0, s_dims));
    TROUPE_ASSIGN(auto* u, at.allocate(1, u_dims));
    TROUPE_ASSIGN(auto* v, at.allocate(2, v_dims));
    const auto* from = at.input(0).data<T>();
    auto* to_s = s->template data<T>();
    auto* to_u = vectors ? u->template data<T>() : nullptr;
    auto* to_v = vectors ? v->template data<T>() : nullptr;
    auto work = 20 * static_cast<double>(of.size()) * static_cast<double>(p);
    return for_each_matrix(at, of.count, work, [&](int64_t i) -> status {
      decompose<T>(from + i * of.size(), m, n, full, to_s + i * p,
                   vectors ? to_u + i * m * k_u : nullptr, vectors ? to_v + i * n * k_v : nullptr);
      return {};
    });
  }
};

} // namespace

extern constexpr kernel_def svd_cpu{
    .op = "Svd",
    .run = kernels_of<decomposition>(types::fields),
    .prepare = prepare,
};

} // namespace troupe::ops

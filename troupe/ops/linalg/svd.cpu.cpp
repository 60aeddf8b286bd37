#include "troupe/ops/linalg/svd.hpp"
#include "troupe/ops/linalg/shared/dense_algebra.hpp"

namespace troupe::ops::svd_cpu {
namespace {

struct decomposition {
  template <class T>
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto out, allocate_svd(at));
    auto [of, p, left, right, s, u, v] = out;
    auto m = of.rows, n = of.columns;
    const auto* from = at.input(0).data<T>();
    auto* to_s = s->template data<T>();
    auto* to_u = u ? u->template data<T>() : nullptr;
    auto* to_v = v ? v->template data<T>() : nullptr;
    auto full = at.state<wanted_vectors>().full;
    auto work = 20 * static_cast<double>(of.size()) * static_cast<double>(p);
    return for_each_matrix(at, of.count, work, [=, size = of.size()](int64_t i) -> status {
      decompose<T>(from + i * size, m, n, full, to_s + i * p, to_u ? to_u + i * m * left : nullptr,
                   to_v ? to_v + i * n * right : nullptr);
      return {};
    });
  }
};

} // namespace

extern constexpr kernel_def svd_cpu{
    .op = "Svd",
    .run = kernels_of<decomposition>(types::fields),
    .prepare = prepare_svd,
};

} // namespace troupe::ops::svd_cpu

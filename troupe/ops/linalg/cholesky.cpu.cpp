#include "troupe/ops/linalg/shared/dense_algebra.hpp"
#include "troupe/ops/linalg/shared/matrices.cpu.hpp"

#include <algorithm>
#include <limits>

namespace troupe::ops::cholesky_cpu {
namespace {

struct factorization {
  template <class T>
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto of, square_matrices_of(at.input(0)));
    TROUPE_ASSIGN(auto* out, at.allocate(0, at.input(0).dims()));
    const auto* from = at.input(0).data<T>();
    auto* to = out->template data<T>();
    auto nan = T(std::numeric_limits<decltype(std::abs(T{}))>::quiet_NaN());
    return for_each_matrix(at, of.count, 0.4 * cube(of.rows), [&](int64_t i) -> status {
      auto* l = to + i * of.size();
      if (!factorize<T>(from + i * of.size(), of.rows, l))
        for (int64_t row = 0; row < of.rows; ++row)
          std::fill_n(std::fill_n(l + row * of.columns, row + 1, nan), of.columns - row - 1, T{});
      return {};
    });
  }
};

} // namespace

extern constexpr kernel_def cholesky_cpu{
    .op = "Cholesky",
    .run = kernels_of<factorization>(types::fields),
};

} // namespace troupe::ops::cholesky_cpu

#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/linalg/shared/dense_algebra.hpp"
#include "troupe/ops/linalg/shared/matrices.cpu.hpp"

namespace troupe::ops::matrix_inverse_cpu {
namespace {

struct inversion {
  template <class T>
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto of, square_matrices_of(at.input(0)));
    TROUPE_ASSIGN(auto* out, at.allocate(0, at.input(0).dims()));
    const auto* from = at.input(0).data<T>();
    auto* to = out->template data<T>();
    auto adjoint = at.state<bool>();
    return for_each_matrix(at, of.count, 2 * cube(of.rows), [&](int64_t i) -> status {
      if (solve<T>(from + i * of.size(), of.rows, adjoint, nullptr, to + i * of.size(), of.rows))
        return {};
      return invalid("matrix ", i, " is not invertible");
    });
  }
};

} // namespace

extern constexpr kernel_def matrix_inverse_cpu{
    .op = "MatrixInverse",
    .run = kernels_of<inversion>(types::fields),
    .prepare = cache_attr<bool, "adjoint">,
};

} // namespace troupe::ops::matrix_inverse_cpu

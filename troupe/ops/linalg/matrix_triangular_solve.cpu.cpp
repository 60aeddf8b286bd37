#include "troupe/ops/linalg/shared/dense_algebra.hpp"
#include "troupe/ops/linalg/shared/matrices.cpu.hpp"
#include "troupe/ops/linalg/shared/triangular.hpp"
#include "troupe/ops/matmul/shared/matrix_product.hpp"

namespace troupe::ops::matrix_triangular_solve_cpu {
namespace {

struct solution {
  template <class T>
  static status run(kernel_context& at) {
    const auto &matrix = at.input(0), &rhs = at.input(1);
    TROUPE_ASSIGN(auto of, square_matrices_of(matrix));
    TROUPE_ASSIGN(auto right, matrices_of(rhs));
    TROUPE_ASSIGN(auto plan, plan_product(matrix.dims(), {}, rhs.dims(), {}));
    TROUPE_ASSIGN(auto* out, at.allocate(0, plan.dims));
    if (out->elements() == 0)
      return {};
    const auto *a = matrix.data<T>(), *b = rhs.data<T>();
    auto* x = out->template data<T>();
    auto [lower, adjoint] = at.state<triangle>();
    auto work = static_cast<double>(of.size()) * static_cast<double>(right.columns);
    const auto& batches = plan.what.batches;
    return for_each_matrix(at, batches.elements(), work, [&](int64_t i) -> status {
      auto where = batches.at(i);
      solve_triangular<T>(a + where[0], of.rows, lower, adjoint, b + where[1], x + i * right.size(),
                          right.columns);
      return {};
    });
  }
};

} // namespace

extern constexpr kernel_def matrix_triangular_solve_cpu{
    .op = "MatrixTriangularSolve",
    .run = kernels_of<solution>(types::fields),
    .prepare = prepare_triangle,
};

} // namespace troupe::ops::matrix_triangular_solve_cpu

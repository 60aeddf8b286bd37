#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/linalg/shared/dense_algebra.hpp"
#include "troupe/ops/linalg/shared/least_squares.hpp"
#include "troupe/ops/linalg/shared/matrices.cpu.hpp"
#include "troupe/ops/linalg/shared/triangular.hpp"
#include "troupe/ops/matmul/shared/matrix_product.hpp"

#include <algorithm>

namespace troupe::ops::matrix_solve_cpu {
namespace {

struct inversion {
  template <class T>
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto batch, square_matrices_of(at.input(0)));
    TROUPE_ASSIGN(auto* out, at.allocate(0, at.input(0).dims()));
    const auto* from = at.input(0).data<T>();
    auto* to = out->template data<T>();
    auto adjoint = at.state<bool>();
    return for_each_matrix(at, batch.count, 2 * cube(batch.rows), [&](int64_t i) -> status {
      if (solve<T>(from + i * batch.size(), batch.rows, adjoint, nullptr, to + i * batch.size(),
                   batch.rows))
        return {};
      return invalid("matrix ", i, " is not invertible");
    });
  }
};

struct matrix_solve_solution {
  template <class T>
  static status run(kernel_context& at) {
    const auto &matrix = at.input(0), &rhs = at.input(1);
    TROUPE_ASSIGN(auto batch, square_matrices_of(matrix));
    TROUPE_ASSIGN(auto right, right_sides_of(matrix, rhs));
    TROUPE_ASSIGN(auto* out, at.allocate(0, rhs.dims()));
    const auto *a = matrix.data<T>(), *b = rhs.data<T>();
    auto* x = out->template data<T>();
    auto adjoint = at.state<bool>();
    auto work =
        cube(batch.rows) + static_cast<double>(batch.size()) * static_cast<double>(right.columns);
    return for_each_matrix(at, batch.count, work, [&](int64_t i) -> status {
      auto part = i * right.size();
      if (right.size() == 0 ||
          solve<T>(a + i * batch.size(), batch.rows, adjoint, b + part, x + part, right.columns))
        return {};
      return invalid("matrix ", i, " is not invertible");
    });
  }
};

struct matrix_solve_ls_solution {
  template <class T>
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto plan, plan_least_squares(at));
    auto [batch, right, dims] = plan;
    const auto &a = at.input(0), &b = at.input(1), &l2 = at.input(2);
    TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
    auto* to = out->template data<T>();
    if (batch.rows == 0 || out->elements() == 0) {
      std::fill_n(to, out->elements(), T{});
      return {};
    }
    auto fast = at.state<bool>();
    auto regularizer = *l2.data<double>();
    auto work = static_cast<double>(batch.size()) *
                (static_cast<double>(std::min(batch.rows, batch.columns)) +
                 static_cast<double>(right.columns)) *
                (fast ? 1 : 20);
    return for_each_matrix(
        at, batch.count, work, [&, batch = batch, right = right](int64_t i) -> status {
          const auto *matrix_data = a.data<T>() + i * batch.size(),
                     *rhs = b.data<T>() + i * right.size();
          auto* x = to + i * batch.columns * right.columns;
          if (!fast)
            solve_least_squares<T>(matrix_data, batch.rows, batch.columns, rhs, x, right.columns);
          else if (!solve_normal_equations<T>(matrix_data, batch.rows, batch.columns, regularizer,
                                              rhs, x, right.columns))
            return invalid("matrix ", i, TROUPE_LACKS_RANK);
          return {};
        });
  }
};

struct matrix_triangular_solve_solution {
  template <class T>
  static status run(kernel_context& at) {
    const auto &matrix = at.input(0), &rhs = at.input(1);
    TROUPE_ASSIGN(auto batch, square_matrices_of(matrix));
    TROUPE_ASSIGN(auto right, matrices_of(rhs));
    TROUPE_ASSIGN(auto plan, plan_product(matrix.dims(), {}, rhs.dims(), {}));
    TROUPE_ASSIGN(auto* out, at.allocate(0, plan.dims));
    if (out->elements() == 0)
      return {};
    const auto *a = matrix.data<T>(), *b = rhs.data<T>();
    auto* x = out->template data<T>();
    auto [lower, adjoint] = at.state<triangle>();
    auto work = static_cast<double>(batch.size()) * static_cast<double>(right.columns);
    const auto& batches = plan.what.batches;
    return for_each_matrix(at, batches.elements(), work, [&](int64_t i) -> status {
      auto where = batches.at(i);
      solve_triangular<T>(a + where[0], batch.rows, lower, adjoint, b + where[1],
                          x + i * right.size(), right.columns);
      return {};
    });
  }
};

} // namespace

extern constexpr kernel_def matrix_inverse_cpu{
    .op = "MatrixInverse",
    .run = kernels_of<inversion>(types::fields),
    .prepare = cache_attr<bool, "adjoint">,
};

extern constexpr kernel_def matrix_solve_cpu{
    .op = "MatrixSolve",
    .run = kernels_of<matrix_solve_solution>(types::fields),
    .prepare = cache_attr<bool, "adjoint">,
};

extern constexpr kernel_def matrix_solve_ls_cpu{
    .op = "MatrixSolveLs",
    .run = kernels_of<matrix_solve_ls_solution>(types::fields),
    .prepare = cache_attr<bool, "fast">,
};

extern constexpr kernel_def matrix_triangular_solve_cpu{
    .op = "MatrixTriangularSolve",
    .run = kernels_of<matrix_triangular_solve_solution>(types::fields),
    .prepare = prepare_triangle,
};

} // namespace troupe::ops::matrix_solve_cpu

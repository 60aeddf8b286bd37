#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/linalg/shared/dense_algebra.hpp"
#include "troupe/ops/linalg/shared/matrices.cpu.hpp"

namespace troupe::ops::matrix_solve_cpu {
namespace {

struct solution {
  template <class T>
  static status run(kernel_context& at) {
    const auto &matrix = at.input(0), &rhs = at.input(1);
    TROUPE_ASSIGN(auto of, square_matrices_of(matrix));
    TROUPE_ASSIGN(auto right, right_sides_of(matrix, rhs));
    TROUPE_ASSIGN(auto* out, at.allocate(0, rhs.dims()));
    const auto *a = matrix.data<T>(), *b = rhs.data<T>();
    auto* x = out->template data<T>();
    auto adjoint = at.state<bool>();
    auto work = cube(of.rows) + static_cast<double>(of.size()) * static_cast<double>(right.columns);
    return for_each_matrix(at, of.count, work, [&](int64_t i) -> status {
      auto part = i * right.size();
      if (right.size() == 0 ||
          solve<T>(a + i * of.size(), of.rows, adjoint, b + part, x + part, right.columns))
        return {};
      return invalid("matrix ", i, " is not invertible");
    });
  }
};

} // namespace

extern constexpr kernel_def matrix_solve_cpu{
    .op = "MatrixSolve",
    .run = kernels_of<solution>(types::fields),
    .prepare = cache_attr<bool, "adjoint">,
};

} // namespace troupe::ops::matrix_solve_cpu

// MatrixSolve: solutions of systems of linear equations.
#include "troupe/ops/linalg/shared/solve.hpp"

namespace troupe::ops::matrix_solve_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto matrix, square_matrices_at(at, 0));
  TROUPE_ASSIGN(auto rhs, matrices_at(at, 1));
  if (!matrix.has_rank() || !rhs.has_rank())
    return shapes{rhs};
  TROUPE_ASSIGN(auto wanted, with_matrix(matrix, {matrix[matrix.rank() - 1], rhs[rhs.rank() - 1]}));
  auto joint = merge(wanted, rhs);
  if (!joint)
    return at.invalid("rhs must have as many rows and batches as matrix, got shapes ", rhs, " and ",
                      matrix);
  return shapes{*joint};
}

edges gradient(gradient_context& at) { return solve_gradient(at, "MatrixSolve", {}); }

} // namespace

extern constexpr op_def matrix_solve{
    .name = "MatrixSolve",
    .doc = "Solves matrix * output = rhs for each square matrix, or adjoint(matrix) * output = "
           "rhs.\n\nThe last two axes are the matrices; all others are equal. A matrix without "
           "inverse fails.",
    .inputs = {{"matrix", "T"}, {"rhs", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"adjoint", false}, {"T", field_types}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
a = f32[[2, 1], [0, 4]]
x = MatrixSolve(a, f32[[5, 2], [4, 8]])
y = MatrixSolve(a, f32[[2], [5]]) adjoint=true
fetch x = f32[[2, 0], [1, 2]]
fetch y = f32[[1], [1]]
)",
};

} // namespace troupe::ops::matrix_solve_op

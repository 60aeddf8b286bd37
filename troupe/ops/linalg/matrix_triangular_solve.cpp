// MatrixTriangularSolve: solutions of systems of linear equations that are solved line by line.
#include "troupe/ops/linalg/shared/solve.hpp"
#include "troupe/ops/matmul/shared/matrix_product.hpp"

namespace troupe::ops::matrix_triangular_solve_op {
namespace {

// The output is shaped as the product of an inverse and rhs.
result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto matrix, square_matrices_at(at, 0));
  TROUPE_ASSIGN(auto output, infer_product(matrix, false, at.input(1), false));
  return shapes{output};
}

edges gradient(gradient_context& at) {
  auto matrix = at.input(0), rhs = at.input(1);
  auto lower = at.attr<bool>("lower");
  auto whole = solve_gradient(at, "MatrixTriangularSolve", {{"lower", lower}});
  auto triangle = lower ? lower_triangle(whole[0]) : upper_triangle(whole[0]);
  return {unbroadcast(triangle, matrix, triangle), unbroadcast(whole[1], rhs, whole[1])};
}

} // namespace

extern constexpr op_def matrix_triangular_solve{
    .name = "MatrixTriangularSolve",
    .doc = "Solves matrix * output = rhs for each triangular matrix, or adjoint(matrix) * output = "
           "rhs.\n\nThe last two axes are the matrices; all others broadcast by NumPy's rules. "
           "Only the lower triangle of matrix is read, or the upper one. A 0 on the "
           "diagonal gives infinities or NaN.",
    .inputs = {{"matrix", "T"}, {"rhs", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"lower", true}, {"adjoint", false}, {"T", field_types}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
a = f32[[2, 1], [3, 4]]
x = MatrixTriangularSolve(a, f32[[[2, 4], [11, 6]]])
y = MatrixTriangularSolve(a, f32[[2], [5]]) lower=false adjoint=true
fetch x = f32[[[1, 2], [2, 0]]]
fetch y = f32[[1], [1]]
)",
};

} // namespace troupe::ops::matrix_triangular_solve_op

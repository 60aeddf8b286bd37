// Inverses, and solutions of systems of linear equations.
#include "troupe/ops/define/matrices.hpp"
#include "troupe/ops/matmul/shared/matrix_product.hpp"

namespace troupe::ops::matrix_solve_op {
namespace {

// For x = a^-1 b: db = a'^-1 dx, da = -db x'. With the adjoint, the operands change sides. `attrs`
// are the op's attributes except `adjoint`.
edges solve_gradient(gradient_context& at, const char* op, attr_map attrs) {
  auto adjoint = at.attr<bool>("adjoint");
  auto x = at.output(0);
  attrs["adjoint"] = !adjoint;
  auto rhs = build(op, {at.input(0), at.output_gradient(0)}, std::move(attrs));
  return {-(adjoint ? product(x, rhs, false, true) : product(rhs, x, false, true)), rhs};
}

// For y = a^-1: dy = -y da y. With the adjoint, the operands change sides.
edges matrix_inverse_gradient(gradient_context& at) {
  auto y = at.output(0), dy = at.output_gradient(0);
  auto adjoint = at.attr<bool>("adjoint");
  return {-product(y, product(dy, y, adjoint, !adjoint), !adjoint)};
}

result<shapes> infer_matrix_solve(const infer_context& at) {
  TROUPE_ASSIGN(auto matrix, square_matrices_at(at, 0));
  TROUPE_ASSIGN(auto rhs, matrices_at(at, 1));
  if (!matrix.has_rank() || !rhs.has_rank())
    return shapes{rhs};
  TROUPE_ASSIGN(auto solution,
                with_matrix(matrix, {matrix[matrix.rank() - 1], rhs[rhs.rank() - 1]}));
  auto joint = merge(solution, rhs);
  if (!joint)
    return at.invalid("rhs must have as many rows and batches as matrix, got shapes ", rhs, " and ",
                      matrix);
  return shapes{*joint};
}

edges matrix_solve_gradient(gradient_context& at) { return solve_gradient(at, "MatrixSolve", {}); }

result<shapes> infer_matrix_solve_ls(const infer_context& at) {
  TROUPE_ASSIGN(auto matrix, matrices_at(at, 0));
  TROUPE_ASSIGN(auto rhs, matrices_at(at, 1));
  TROUPE_TRY(at.of_rank(2, 0));
  if (!matrix.has_rank() || !rhs.has_rank())
    return shapes{partial_shape::unknown()};
  auto m = matrix[matrix.rank() - 2], n = matrix[matrix.rank() - 1], k = rhs[rhs.rank() - 1];
  TROUPE_ASSIGN(auto solution, with_matrix(matrix, {m, k}));
  auto joint = merge(solution, rhs);
  if (!joint)
    return at.invalid("rhs must have as many rows and batches as matrix, got shapes ", rhs, " and ",
                      matrix);
  TROUPE_ASSIGN(auto output, with_matrix(*joint, {n, k}));
  return shapes{output};
}

// -sum(x * y), the gradient with respect to l2_regularizer.
edge of_regularizer(gradient_context& at, edge x, edge y) {
  if (!at.attr<bool>("fast"))
    return {};
  auto products = conjugate(x) * y;
  return -cast_to(sum_over(reshaped(products, integers_like(x, {-1})), {0}), dtype::f64);
}

// For tall a, x = c^-1 a' b with c = a' a + l2, and with z = c^-1 dx:
//   db = a z, da = (b - a x) z' - a z x', dl2 = -sum(z * x).
// For wide a, x = a' w with w = c^-1 b and c = a a' + l2, and with z = c^-1 a dx:
//   db = z, da = w (dx - a' z)' - z x', dl2 = -sum(z * w).
edges matrix_solve_ls_gradient(gradient_context& at) {
  auto a = at.input(0), b = at.input(1), x = at.output(0), dx = at.output_gradient(0);
  const auto& dims = a.dims();
  if (!dims.has_rank() || dims[dims.rank() - 1] == unknown_extent ||
      dims[dims.rank() - 2] == unknown_extent)
    return at.fail("the gradient needs to know how many rows and columns the matrices have");
  auto tall = dims[dims.rank() - 2] >= dims[dims.rank() - 1];
  auto c = product(a, a, tall, !tall);
  if (at.attr<bool>("fast"))
    c = c + identity_like(c) * cast_to(at.input(2), a.type());
  auto solved = [&](edge rhs) { return build("MatrixSolve", {c, rhs}); };
  if (tall) {
    auto z = solved(dx), db = product(a, z);
    auto da = product(b - product(a, x), z, false, true) - product(db, x, false, true);
    return {da, db, of_regularizer(at, z, x)};
  }
  auto z = solved(product(a, dx)), w = solved(b);
  auto da = product(w, dx - product(a, z, true), false, true) - product(z, x, false, true);
  return {da, z, of_regularizer(at, z, w)};
}

// The output has the shape of the product of an inverse and rhs.
result<shapes> infer_matrix_triangular_solve(const infer_context& at) {
  TROUPE_ASSIGN(auto matrix, square_matrices_at(at, 0));
  TROUPE_ASSIGN(auto output, infer_product(matrix, false, at.input(1), false));
  return shapes{output};
}

edges matrix_triangular_solve_gradient(gradient_context& at) {
  auto matrix = at.input(0), rhs = at.input(1);
  auto lower = at.attr<bool>("lower");
  auto gradients = solve_gradient(at, "MatrixTriangularSolve", {{"lower", lower}});
  auto triangle = lower ? lower_triangle(gradients[0]) : upper_triangle(gradients[0]);
  return {unbroadcast(triangle, matrix, triangle), unbroadcast(gradients[1], rhs, gradients[1])};
}

} // namespace

extern constexpr op_def matrix_inverse{
    .name = "MatrixInverse",
    .doc = "Computes the inverse of each square matrix, or of its adjoint.\n\nThe last two axes "
           "are the matrices. One that has no inverse fails.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"adjoint", false}, {"T", field_types}},
    .infer = infer_square,
    .gradient = matrix_inverse_gradient,
    .example = R"(
x = f32[[[2, 0], [1, 4]], [[1, 1], [0, 2]]]
y = MatrixInverse(x)
z = MatrixInverse(x) adjoint=true
fetch y = f32[[[0.5, 0], [-0.125, 0.25]], [[1, -0.5], [0, 0.5]]]
fetch z = f32[[[0.5, -0.125], [0, 0.25]], [[1, 0], [-0.5, 0.5]]]
)",
};

extern constexpr op_def matrix_solve{
    .name = "MatrixSolve",
    .doc = "Solves matrix * output = rhs for each square matrix, or adjoint(matrix) * output = "
           "rhs.\n\nThe last two axes are the matrices; all others are equal. A matrix without "
           "inverse fails.",
    .inputs = {{"matrix", "T"}, {"rhs", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"adjoint", false}, {"T", field_types}},
    .infer = infer_matrix_solve,
    .gradient = matrix_solve_gradient,
    .example = R"(
a = f32[[2, 1], [0, 4]]
x = MatrixSolve(a, f32[[5, 2], [4, 8]])
y = MatrixSolve(a, f32[[2], [5]]) adjoint=true
fetch x = f32[[2, 0], [1, 2]]
fetch y = f32[[1], [1]]
)",
};

extern constexpr op_def matrix_solve_ls{
    .name = "MatrixSolveLs",
    .doc =
        "Solves matrix * output = rhs in the least-squares sense for each matrix.\n\nThe last "
        "two axes are the matrices; all others are equal. A fast solution factorizes matrix' * "
        "matrix + l2_regularizer, or matrix * matrix' + l2_regularizer where there are fewer "
        "rows than columns; then output is the shortest of all solutions. It fails for "
        "matrices that have not full rank, or nearly so. Otherwise, an orthogonal decomposition "
        "finds the shortest solution for any matrix, and l2_regularizer is not looked at. The "
        "gradient is defined for full rank, and needs to know how many rows and columns there are.",
    .inputs = {{"matrix", "T"}, {"rhs", "T"}, on_host("l2_regularizer", "f64")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", field_types}, {"fast", true}},
    .infer = infer_matrix_solve_ls,
    .gradient = matrix_solve_ls_gradient,
    .example = R"(
a = f32[[1, 0], [1, 1], [1, 2]]
x = MatrixSolveLs(a, f32[[1], [3], [5]], f64(0))
y = MatrixSolveLs(f32[[1, 1, 1]], f32[[6]], f64(0)) fast=false
fetch x ~ 1e-4 = f32[[1], [2]]
fetch y ~ 1e-4 = f32[[2], [2], [2]]
)",
};

extern constexpr op_def matrix_triangular_solve{
    .name = "MatrixTriangularSolve",
    .doc = "Solves matrix * output = rhs for each triangular matrix, or adjoint(matrix) * output = "
           "rhs.\n\nThe last two axes are the matrices; all others broadcast by NumPy's rules. "
           "Only the lower triangle of matrix is read, or the upper one. A 0 on the "
           "diagonal gives infinities or NaN.",
    .inputs = {{"matrix", "T"}, {"rhs", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"lower", true}, {"adjoint", false}, {"T", field_types}},
    .infer = infer_matrix_triangular_solve,
    .gradient = matrix_triangular_solve_gradient,
    .example = R"(
a = f32[[2, 1], [3, 4]]
x = MatrixTriangularSolve(a, f32[[[2, 4], [11, 6]]])
y = MatrixTriangularSolve(a, f32[[2], [5]]) lower=false adjoint=true
fetch x = f32[[[1, 2], [2, 0]]]
fetch y = f32[[1], [1]]
)",
};

} // namespace troupe::ops::matrix_solve_op

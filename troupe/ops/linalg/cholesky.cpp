// Cholesky: the factors of positive definite matrices.
#include "troupe/ops/define/matrices.hpp"

namespace troupe::ops::cholesky_op {
namespace {

// With h(x) the lower triangle of x and half of its diagonal, and s = l'^-1 h(l' dl) l^-1, the
// gradient of the elements that are read is h(s + s').
edges gradient(gradient_context& at) {
  auto l = at.output(0);
  auto middle = half_lower_triangle(product(l, at.output_gradient(0), true));
  auto left = build("MatrixTriangularSolve", {l, middle}, {{"adjoint", true}});
  auto inverse = build("MatrixTriangularSolve", {l, identity_like(l)});
  return {half_lower_triangle(product(left, inverse) + product(inverse, left, true, true))};
}

} // namespace

extern constexpr op_def cholesky{
    .name = "Cholesky",
    .doc = "Computes the lower triangular l with l l' = input for each matrix, which must be "
           "Hermitian and positive definite.\n\nThe last two axes are the matrices. Only their "
           "lower triangles are read, and the gradient is with respect to these. "
           "A matrix that is not positive definite gives NaN in the lower triangle.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", field_types}},
    .infer = infer_square,
    .gradient = gradient,
    .example = R"(
y = Cholesky(f32[[[4, 2], [2, 10]], [[1, 0], [0, 9]]])
fetch y = f32[[[2, 0], [1, 3]], [[1, 0], [0, 3]]]
)",
};

} // namespace troupe::ops::cholesky_op

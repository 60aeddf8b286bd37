// MatrixInverse: the inverse of each matrix of a batch.
#include "troupe/ops/define/matrices.hpp"

namespace troupe::ops::matrix_inverse_op {
namespace {

// For y = a^-1: dy = -y da y. The adjoint changes sides.
edges gradient(gradient_context& at) {
  auto y = at.output(0), dy = at.output_gradient(0);
  auto adjoint = at.attr<bool>("adjoint");
  return {-product(y, product(dy, y, adjoint, !adjoint), !adjoint)};
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
    .gradient = gradient,
    .example = R"(
x = f32[[[2, 0], [1, 4]], [[1, 1], [0, 2]]]
y = MatrixInverse(x)
z = MatrixInverse(x) adjoint=true
fetch y = f32[[[0.5, 0], [-0.125, 0.25]], [[1, -0.5], [0, 0.5]]]
fetch z = f32[[[0.5, -0.125], [0, 0.25]], [[1, 0], [-0.5, 0.5]]]
)",
};

} // namespace troupe::ops::matrix_inverse_op

// MatrixDeterminant: the determinant of each matrix of a batch.
#include "troupe/ops/define/matrices.hpp"

namespace troupe::ops::matrix_determinant_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto dims, square_matrices_at(at, 0));
  TROUPE_ASSIGN(auto numbers, with_matrix(dims, {}));
  return shapes{numbers};
}

// da = det(a) * a^-T
edges gradient(gradient_context& at) {
  auto inverse = build("MatrixInverse", {at.input(0)}, {{"adjoint", true}});
  return {as_matrix(at.output_gradient(0) * conjugate(at.output(0))) * inverse};
}

} // namespace

extern constexpr op_def matrix_determinant{
    .name = "MatrixDeterminant",
    .doc = "Computes the determinant of each square matrix.\n\nThe last two axes are the matrices. "
           "The gradient of a matrix without inverse fails.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", field_types}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = MatrixDeterminant(f32[[[2, 1], [1, 4]], [[0, 1], [2, 0]]])
fetch y = f32[7, -2]
)",
};

} // namespace troupe::ops::matrix_determinant_op

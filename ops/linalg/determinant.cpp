// Determinants and their logarithms.
#include "troupe/ops/define/matrices.hpp"

namespace troupe::ops::determinant_op {
namespace {

result<shapes> infer_matrix_determinant(const infer_context& at) {
  TROUPE_ASSIGN(auto dims, square_matrices_at(at, 0));
  TROUPE_ASSIGN(auto numbers, with_matrix(dims, {}));
  return shapes{numbers};
}

// da = det(a) * a^-T
edges matrix_determinant_gradient(gradient_context& at) {
  auto inverse = build("MatrixInverse", {at.input(0)}, {{"adjoint", true}});
  return {as_matrix(at.output_gradient(0) * conjugate(at.output(0))) * inverse};
}

result<shapes> infer_log_matrix_determinant(const infer_context& at) {
  TROUPE_ASSIGN(auto dims, square_matrices_at(at, 0));
  TROUPE_ASSIGN(auto numbers, with_matrix(dims, {}));
  return shapes{numbers, numbers};
}

// The sign of real determinants is piecewise constant; the sign of complex determinants is treated
// as constant.
edges log_matrix_determinant_gradient(gradient_context& at) {
  auto inverse = build("MatrixInverse", {at.input(0)}, {{"adjoint", true}});
  return {as_matrix(at.output_gradient(1)) * inverse};
}

} // namespace

extern constexpr op_def matrix_determinant{
    .name = "MatrixDeterminant",
    .doc = "Computes the determinant of each square matrix.\n\nThe last two axes are the matrices. "
           "The gradient of a matrix without inverse fails.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", field_types}},
    .infer = infer_matrix_determinant,
    .gradient = matrix_determinant_gradient,
    .example = R"(
y = MatrixDeterminant(f32[[[2, 1], [1, 4]], [[0, 1], [2, 0]]])
fetch y = f32[7, -2]
)",
};

extern constexpr op_def log_matrix_determinant{
    .name = "LogMatrixDeterminant",
    .doc = "Computes the sign of the determinant of each square matrix, and the logarithm of its "
           "absolute value.\n\nThe last two axes are the matrices. The determinant is sign * "
           "exp(log_abs_determinant); one that is 0 has the sign 0 and the logarithm -inf, and its "
           "gradient fails. The sign has no gradient.",
    .inputs = {{"input", "T"}},
    .outputs = {{"sign", "T"}, {"log_abs_determinant", "T"}},
    .attrs = {{"T", field_types}},
    .infer = infer_log_matrix_determinant,
    .gradient = log_matrix_determinant_gradient,
    .example = R"(
y = LogMatrixDeterminant(f32[[[2, 1], [1, 4]], [[0, 1], [1, 0]]])
fetch y = f32[1, -1]
fetch y:1 = f32[1.9459101, 0]
)",
};

} // namespace troupe::ops::determinant_op

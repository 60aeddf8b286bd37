// MatrixDiagPart: the diagonals of matrices.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/linalg/shared/diagonals.hpp"

namespace troupe::ops::matrix_diag_part_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto dims, diagonals_of(at.input(0)));
  return shapes{dims};
}

edges gradient(gradient_context& at) {
  return {build("MatrixSetDiag", {zeros_of(at.input(0)), at.output_gradient(0)})};
}

} // namespace

extern constexpr op_def matrix_diag_part{
    .name = "MatrixDiagPart",
    .doc = "Gives the main diagonals of the matrices in the last two axes.",
    .inputs = {{"input", "T"}},
    .outputs = {{"diagonal", "T"}},
    .attrs = {{"T", any_type}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = MatrixDiagPart(f32[[1, 2, 3], [4, 5, 6]])
fetch y = f32[1, 5]
)",
};

} // namespace troupe::ops::matrix_diag_part_op

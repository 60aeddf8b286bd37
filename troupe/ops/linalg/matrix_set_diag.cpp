// MatrixSetDiag: matrices with their diagonals replaced.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/linalg/shared/diagonals.hpp"

namespace troupe::ops::matrix_set_diag_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto dims, diagonals_of(at.input(0)));
  TROUPE_TRY(merge(dims, at.input(1)));
  return shapes{at.input(0)};
}

edges gradient(gradient_context& at) {
  auto dy = at.output_gradient(0);
  return {build("MatrixSetDiag", {dy, zeros_of(at.input(1))}), build("MatrixDiagPart", {dy})};
}

} // namespace

extern constexpr op_def matrix_set_diag{
    .name = "MatrixSetDiag",
    .doc = "Replaces the main diagonals of the matrices in the last two axes.",
    .inputs = {{"input", "T"}, {"diagonal", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}},
    .effects = effect::forwardable,
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = MatrixSetDiag(f32[[1, 2, 3], [4, 5, 6]], f32[7, 8])
fetch y = f32[[7, 2, 3], [4, 8, 6]]
)",
};

} // namespace troupe::ops::matrix_set_diag_op

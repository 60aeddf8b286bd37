// Diagonals of tensors and of matrices.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/linalg/shared/diagonals.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::matrix_diag_op {
namespace {

result<shapes> infer_diag(const infer_context& at) {
  const auto& dims = at.input(0);
  if (!dims.has_rank())
    return shapes{dims};
  std::vector<int64_t> extents{dims.extents().begin(), dims.extents().end()};
  extents.insert(extents.end(), dims.extents().begin(), dims.extents().end());
  TROUPE_ASSIGN(auto out, partial_shape::make(extents));
  return shapes{out};
}

edges diag_gradient(gradient_context& at) { return {build("DiagPart", {at.output_gradient(0)})}; }

result<shapes> infer_diag_part(const infer_context& at) {
  const auto& dims = at.input(0);
  if (!dims.has_rank())
    return shapes{dims};
  if (dims.rank() == 0 || dims.rank() % 2 != 0)
    return at.invalid("input must have an even number of axes, got shape ", dims);
  auto half = dims.extents().size() / 2;
  auto first = dims.extents().first(half), second = dims.extents().last(half);
  TROUPE_ASSIGN(auto joint,
                merge(partial_shape{std::vector<int64_t>(first.begin(), first.end())},
                      partial_shape{std::vector<int64_t>(second.begin(), second.end())}));
  return shapes{joint};
}

edges diag_part_gradient(gradient_context& at) { return {build("Diag", {at.output_gradient(0)})}; }

result<shapes> infer_matrix_diag(const infer_context& at) {
  const auto& dims = at.input(0);
  if (!dims.has_rank())
    return shapes{dims};
  if (dims.rank() == 0)
    return at.invalid("diagonal must have an axis, got a scalar");
  std::vector<int64_t> extents{dims.extents().begin(), dims.extents().end()};
  extents.push_back(extents.back());
  TROUPE_ASSIGN(auto out, partial_shape::make(extents));
  return shapes{out};
}

edges matrix_diag_gradient(gradient_context& at) {
  return {build("MatrixDiagPart", {at.output_gradient(0)})};
}

result<shapes> infer_matrix_diag_part(const infer_context& at) {
  TROUPE_ASSIGN(auto dims, diagonals_of(at.input(0)));
  return shapes{dims};
}

edges matrix_diag_part_gradient(gradient_context& at) {
  return {build("MatrixSetDiag", {zeros_of(at.input(0)), at.output_gradient(0)})};
}

result<shapes> infer_matrix_set_diag(const infer_context& at) {
  TROUPE_ASSIGN(auto dims, diagonals_of(at.input(0)));
  TROUPE_TRY(merge(dims, at.input(1)));
  return shapes{at.input(0)};
}

edges matrix_set_diag_gradient(gradient_context& at) {
  auto dy = at.output_gradient(0);
  return {build("MatrixSetDiag", {dy, zeros_of(at.input(1))}), build("MatrixDiagPart", {dy})};
}

} // namespace

extern constexpr op_def diag{
    .name = "Diag",
    .doc = "Makes a tensor of twice as many axes that is zero but for its diagonal.\n\n"
           "Element [i, j, ..., i, j, ...] is element [i, j, ...] of the input.",
    .inputs = {{"diagonal", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", numbers}},
    .infer = infer_diag,
    .gradient = diag_gradient,
    .example = R"(
y = Diag(f32[1, 2])
fetch y = f32[[1, 0], [0, 2]]
)",
};

extern constexpr op_def diag_part{
    .name = "DiagPart",
    .doc = "Gives the diagonal of a tensor whose second half of axes is like its first.\n\n"
           "Element [i, j, ...] is element [i, j, ..., i, j, ...] of the input.",
    .inputs = {{"input", "T"}},
    .outputs = {{"diagonal", "T"}},
    .attrs = {{"T", numbers}},
    .infer = infer_diag_part,
    .gradient = diag_part_gradient,
    .example = R"(
y = DiagPart(f32[[1, 2], [3, 4]])
fetch y = f32[1, 4]
)",
};

extern constexpr op_def matrix_diag{
    .name = "MatrixDiag",
    .doc = "Makes square matrices that are zero but for the diagonals, which are the vectors along "
           "the last axis.",
    .inputs = {{"diagonal", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}},
    .infer = infer_matrix_diag,
    .gradient = matrix_diag_gradient,
    .example = R"(
y = MatrixDiag(f32[[1, 2], [3, 4]])
fetch y = f32[[[1, 0], [0, 2]], [[3, 0], [0, 4]]]
)",
};

extern constexpr op_def matrix_diag_part{
    .name = "MatrixDiagPart",
    .doc = "Gives the main diagonals of the matrices in the last two axes.",
    .inputs = {{"input", "T"}},
    .outputs = {{"diagonal", "T"}},
    .attrs = {{"T", any_type}},
    .infer = infer_matrix_diag_part,
    .gradient = matrix_diag_part_gradient,
    .example = R"(
y = MatrixDiagPart(f32[[1, 2, 3], [4, 5, 6]])
fetch y = f32[1, 5]
)",
};

extern constexpr op_def matrix_set_diag{
    .name = "MatrixSetDiag",
    .doc = "Replaces the main diagonals of the matrices in the last two axes.",
    .inputs = {{"input", "T"}, {"diagonal", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}},
    .effects = effect::forwardable,
    .infer = infer_matrix_set_diag,
    .gradient = matrix_set_diag_gradient,
    .example = R"(
y = MatrixSetDiag(f32[[1, 2, 3], [4, 5, 6]], f32[7, 8])
fetch y = f32[[7, 2, 3], [4, 8, 6]]
)",
};

} // namespace troupe::ops::matrix_diag_op

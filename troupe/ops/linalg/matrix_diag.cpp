// MatrixDiag: matrices with given diagonals.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::matrix_diag_op {
namespace {

result<shapes> infer(const infer_context& at) {
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

edges gradient(gradient_context& at) { return {build("MatrixDiagPart", {at.output_gradient(0)})}; }

} // namespace

extern constexpr op_def matrix_diag{
    .name = "MatrixDiag",
    .doc = "Makes square matrices that are zero but for the diagonals, which are the vectors along "
           "the last axis.",
    .inputs = {{"diagonal", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = MatrixDiag(f32[[1, 2], [3, 4]])
fetch y = f32[[[1, 0], [0, 2]], [[3, 0], [0, 4]]]
)",
};

} // namespace troupe::ops::matrix_diag_op

// Diag: a tensor along the diagonal of one with twice as many axes.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::diag_op {
namespace {

result<shapes> infer(const infer_context& at) {
  const auto& dims = at.input(0);
  if (!dims.has_rank())
    return shapes{dims};
  std::vector<int64_t> extents{dims.extents().begin(), dims.extents().end()};
  extents.insert(extents.end(), dims.extents().begin(), dims.extents().end());
  TROUPE_ASSIGN(auto out, partial_shape::make(extents));
  return shapes{out};
}

edges gradient(gradient_context& at) { return {build("DiagPart", {at.output_gradient(0)})}; }

} // namespace

extern constexpr op_def diag{
    .name = "Diag",
    .doc = "Makes a tensor of twice as many axes that is zero but for its diagonal.\n\n"
           "Element [i, j, ..., i, j, ...] is element [i, j, ...] of the input.",
    .inputs = {{"diagonal", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", numbers}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = Diag(f32[1, 2])
fetch y = f32[[1, 0], [0, 2]]
)",
};

} // namespace troupe::ops::diag_op

// DiagPart: the diagonal of a tensor whose second half of axes is like its first.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::diag_part_op {
namespace {

result<shapes> infer(const infer_context& at) {
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

edges gradient(gradient_context& at) { return {build("Diag", {at.output_gradient(0)})}; }

} // namespace

extern constexpr op_def diag_part{
    .name = "DiagPart",
    .doc = "Gives the diagonal of a tensor whose second half of axes is like its first.\n\n"
           "Element [i, j, ...] is element [i, j, ..., i, j, ...] of the input.",
    .inputs = {{"input", "T"}},
    .outputs = {{"diagonal", "T"}},
    .attrs = {{"T", numbers}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = DiagPart(f32[[1, 2], [3, 4]])
fetch y = f32[1, 4]
)",
};

} // namespace troupe::ops::diag_part_op

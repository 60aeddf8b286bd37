// ReverseV2: a tensor backwards along axes that are listed.
#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::reverse_v2_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(at.of_rank(1, 1));
  const auto& dims = at.input(0);
  if (auto axes = at.integers(1); axes && dims.has_rank())
    TROUPE_TRY(axes_of(*axes, dims.rank()));
  return shapes{dims};
}

edges gradient(gradient_context& at) {
  return {build("ReverseV2", {at.output_gradient(0), at.input(1)}), {}};
}

} // namespace

extern constexpr op_def reverse_v2{
    .name = "ReverseV2",
    .doc = "Reverses the order of the elements along the listed axes.\n\nNegative axes count from "
           "the end; none may be listed twice.",
    .inputs = {{"tensor", "T"}, on_host("axis", "Tidx")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}, {"Tidx", index_types, dtype::i32}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = ReverseV2(f32[[1, 2], [3, 4]], i32[-1])
fetch y = f32[[2, 1], [4, 3]]
)",
};

} // namespace troupe::ops::reverse_v2_op

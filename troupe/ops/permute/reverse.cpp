// Reverse: a tensor backwards along axes that are marked.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::reverse_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto marks, at.of_rank(1, 1));
  const auto& dims = at.input(0);
  if (dims.has_rank() && marks[0] != unknown_extent && marks[0] != dims.rank())
    return at.invalid("dims must say of ", dims.rank(), " axes whether to reverse them, got ",
                      marks[0]);
  return shapes{dims};
}

edges gradient(gradient_context& at) {
  return {build("Reverse", {at.output_gradient(0), at.input(1)}), {}};
}

} // namespace

extern constexpr op_def reverse{
    .name = "Reverse",
    .doc = "Reverses the order of the elements along each axis for which dims is true.",
    .inputs = {{"tensor", "T"}, on_host("dims", "bool")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = Reverse(f32[[1, 2], [3, 4]], bool[false, true])
fetch y = f32[[2, 1], [4, 3]]
)",
};

} // namespace troupe::ops::reverse_op

// AddN: the sum of any number of tensors.
#include "troupe/runtime/graph/gradient.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::add_n_op {
namespace {

result<shapes> infer(const infer_context& at) {
  auto joint = at.input(0);
  for (int i = 1; i < at.inputs(); ++i) {
    auto merged = merge(joint, at.input(i));
    if (!merged)
      return at.invalid("all inputs must have one shape, got ", joint, " and ", at.input(i));
    joint = *std::move(merged);
  }
  return shapes{std::move(joint)};
}

edges gradient(gradient_context& at) {
  return edges(static_cast<size_t>(at.inputs()), at.output_gradient(0));
}

} // namespace

extern constexpr op_def add_n{
    .name = "AddN",
    .doc = "Adds up tensors of one shape, element by element.\n\nIt does not broadcast.",
    .inputs = {{"inputs", "T", "N"}},
    .outputs = {{"sum", "T"}},
    .attrs = {{"N", at_least{1}}, {"T", numbers}},
    .effects = effect::forwardable | autocast_infer,
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = AddN(f32[1, 2], f32[10, 20], f32[100, 200])
fetch y = f32[111, 222]
)",
};

} // namespace troupe::ops::add_n_op

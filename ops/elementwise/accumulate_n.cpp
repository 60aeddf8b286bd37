// AccumulateNV2, the op of tf.math.accumulate_n: AddN with a declared shape.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/simplify.hpp"

namespace troupe::ops::accumulate_n_op {
namespace {

result<shapes> infer(const infer_context& at) {
  auto joint = at.attr<partial_shape>("shape");
  for (int i = 0; i < at.inputs(); ++i) {
    auto merged = merge(joint, at.input(i));
    if (!merged)
      return at.invalid("all inputs must have the shape ", joint, ", got ", at.input(i));
    joint = *std::move(merged);
  }
  return shapes{std::move(joint)};
}

edges gradient(gradient_context& at) {
  return edges(static_cast<size_t>(at.inputs()), at.output_gradient(0));
}

// AddN has kernels for GPUs.
edge simplify(simplify_context& at) {
  std::vector<edge> inputs;
  for (int i = 0; i < at.inputs(); ++i)
    inputs.push_back(at.input(i));
  return at.op("AddN", std::move(inputs));
}

} // namespace

extern constexpr op_def accumulate_n_v2{
    .name = "AccumulateNV2",
    .doc = "Adds up tensors of one shape, element by element.\n\nIt does what AddN does; `shape` "
           "is that of the inputs.",
    .inputs = {{"inputs", "T", "N"}},
    .outputs = {{"sum", "T"}},
    .attrs = {{"N", at_least{1}}, {"T", numbers}, {"shape", attr_kind::shape}},
    .effects = effect::forwardable,
    .infer = infer,
    .gradient = gradient,
    .simplify = simplify,
    .example = R"(
y = AccumulateNV2(f32[1, 2], f32[10, 20], f32[100, 200]) shape=[2]
fetch y = f32[111, 222]
)",
};

} // namespace troupe::ops::accumulate_n_op

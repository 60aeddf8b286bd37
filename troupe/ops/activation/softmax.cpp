// Softmax: turns each row of the last axis into probabilities.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::softmax_op {
namespace {

result<shapes> infer(const infer_context& at) {
  if (at.input(0).rank() == 0)
    return at.invalid("logits must have a last axis, got shape ", at.input(0));
  return shapes{at.input(0)};
}

// dx = (dy - sum(dy * y)) * y
edges gradient(gradient_context& at) {
  auto y = at.output(0), dy = at.output_gradient(0);
  return {(dy - sum_last(dy * y)) * y};
}

} // namespace

extern constexpr op_def softmax{
    .name = "Softmax",
    .doc = "Exponentiates, then normalizes, each row of the last axis.",
    .inputs = {{"logits", "T"}},
    .outputs = {{"softmax", "T"}},
    .attrs = {{"T", floating}},
    .effects = effect::forwardable,
    .infer = infer,
    .gradient = gradient,
    .example = R"(
x = Placeholder dtype=f64 shape=[-1,2]
y = Softmax(x)
feed x = f64[[0, 0], [0, 1.0986122886681098]]
fetch y = f64[[0.5, 0.5], [0.25, 0.75]]
)",
};

} // namespace troupe::ops::softmax_op

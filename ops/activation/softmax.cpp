// Softmax and its logarithm: the numbers of each row become probabilities.
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
edges softmax_gradient(gradient_context& at) {
  auto y = at.output(0), dy = at.output_gradient(0);
  return {(dy - sum_last(dy * y)) * y};
}

// dx = dy - sum(dy) * exp(y)
edges log_softmax_gradient(gradient_context& at) {
  auto dy = at.output_gradient(0);
  return {dy - sum_last(dy) * at.op("Exp", {at.output(0)})};
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
    .gradient = softmax_gradient,
    .example = R"(
x = Placeholder dtype=f64 shape=[-1,2]
y = Softmax(x)
feed x = f64[[0, 0], [0, 1.0986122886681098]]
fetch y = f64[[0.5, 0.5], [0.25, 0.75]]
)",
};

extern constexpr op_def log_softmax{
    .name = "LogSoftmax",
    .doc = "Computes the logarithm of the softmax of each row of the last axis.",
    .inputs = {{"logits", "T"}},
    .outputs = {{"logsoftmax", "T"}},
    .attrs = {{"T", floating}},
    .effects = effect::forwardable,
    .infer = infer,
    .gradient = log_softmax_gradient,
    .example = R"(
x = Placeholder dtype=f64 shape=[-1,2]
y = LogSoftmax(x)
feed x = f64[[0, 0], [1000, 0]]
fetch y = f64[[-0.6931471805599453, -0.6931471805599453], [0, -1000]]
)",
};

} // namespace troupe::ops::softmax_op

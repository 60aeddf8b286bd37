// Sigmoid: the logistic function of each element.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::sigmoid_op {
namespace {

// dx = dy * y * (1 - y)
edges gradient(gradient_context& at) {
  auto y = conjugate(at.output(0)), dy = at.output_gradient(0);
  return {dy * y * (scalar_like(y, 1) - y)};
}

} // namespace

extern constexpr op_def sigmoid{
    .name = "Sigmoid",
    .doc = "Maps each element to 1 / (1 + exp(-x)).",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Sigmoid(f32[0, 2, -200])
fetch y = f32[0.5, 0.880797, 0]
)",
};

} // namespace troupe::ops::sigmoid_op

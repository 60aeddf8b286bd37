// The logistic function, and its gradient.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/elementwise/shared/output_gradients.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::sigmoid_op {
namespace {

// dx = dy * y * (1 - y)
edges sigmoid_gradient(gradient_context& at) {
  auto y = conjugate(at.output(0)), dy = at.output_gradient(0);
  return {dy * y * (scalar_like(y, 1) - y)};
}

// dz * dy * (1 - 2 y)
edges sigmoid_grad_gradient(gradient_context& at) {
  auto y = conjugate(at.input(0)), dy = conjugate(at.input(1)), dz = at.output_gradient(0);
  return paired_gradients(at, dz * dy * (scalar_like(y, 1) - (y + y)));
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
    .gradient = sigmoid_gradient,
    .example = R"(
y = Sigmoid(f32[0, 2, -200])
fetch y = f32[0.5, 0.880797, 0]
)",
};

extern constexpr op_def sigmoid_grad{
    .name = "SigmoidGrad",
    .doc = "Computes the gradient of Sigmoid from its output y: dy * y * (1 - y).",
    .inputs = {{"y", "T"}, {"dy", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer_paired,
    .gradient = sigmoid_grad_gradient,
    .example = R"(
y = Placeholder dtype=f32 shape=[-1]
dy = Placeholder dtype=f32 shape=[-1]
z = SigmoidGrad(y, dy)
feed y = f32[0.5, 0.25]
feed dy = f32[1, 2]
fetch z = f32[0.25, 0.375]
)",
};

} // namespace troupe::ops::sigmoid_op

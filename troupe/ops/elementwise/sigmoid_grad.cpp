// SigmoidGrad: the gradient of Sigmoid, as an op of its own because a step runs it for every layer.
#include "troupe/ops/elementwise/shared/output_gradients.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::sigmoid_grad_op {
namespace {

// dz * dy * (1 - 2 y)
edges gradient(gradient_context& at) {
  auto y = conjugate(at.input(0)), dy = conjugate(at.input(1)), dz = at.output_gradient(0);
  return paired_gradients(at, dz * dy * (scalar_like(y, 1) - (y + y)));
}

} // namespace

extern constexpr op_def sigmoid_grad{
    .name = "SigmoidGrad",
    .doc = "Computes the gradient of Sigmoid from its output y: dy * y * (1 - y).",
    .inputs = {{"y", "T"}, {"dy", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer_paired,
    .gradient = gradient,
    .example = R"(
y = Placeholder dtype=f32 shape=[-1]
dy = Placeholder dtype=f32 shape=[-1]
z = SigmoidGrad(y, dy)
feed y = f32[0.5, 0.25]
feed dy = f32[1, 2]
fetch z = f32[0.25, 0.375]
)",
};

} // namespace troupe::ops::sigmoid_grad_op

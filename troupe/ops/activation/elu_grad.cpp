// EluGrad: the gradient of Elu, as an op of its own because a step runs it for every layer.
#include "troupe/ops/activation/shared/activation.hpp"

namespace troupe::ops::elu_grad_op {
namespace {

// Where the output is negative, d/d(output) is the gradient.
edges gradient(gradient_context& at) {
  auto y = at.input(1), ddx = at.output_gradient(0);
  auto curved = build("Less", {y, scalar_like(y, 0)});
  return {at.op("EluGrad", {ddx, y}), build("Select", {curved, at.input(0) * ddx, zeros_of(y)})};
}

} // namespace

extern constexpr op_def elu_grad = activation_gradient(
    {
        .name = "EluGrad",
        .doc =
            "Computes the gradient of Elu from its outputs: where they are negative, the gradients "
            "times (outputs + 1).",
        .attrs = {{"T", floating}},
        .gradient = gradient,
        .example = R"(
dx = EluGrad(f32[2, 2], f32[-0.5, 3])
fetch dx = f32[1, 2]
)",
    },
    "outputs");

} // namespace troupe::ops::elu_grad_op

// SeluGrad: the gradient of Selu, as an op of its own because a step runs it for every layer.
#include "troupe/ops/activation/shared/activation.hpp"

namespace troupe::ops::selu_grad_op {
namespace {

// Where the output is negative, d/d(output) is the gradient.
edges gradient(gradient_context& at) {
  auto y = at.input(1), ddx = at.output_gradient(0);
  auto curved = build("Less", {y, scalar_like(y, 0)});
  return {at.op("SeluGrad", {ddx, y}), build("Select", {curved, at.input(0) * ddx, zeros_of(y)})};
}

} // namespace

extern constexpr op_def selu_grad = activation_gradient(
    {
        .name = "SeluGrad",
        .doc =
            "Computes the gradient of Selu from its outputs: the gradients times (outputs + scale "
            "* alpha) where outputs are negative, times scale elsewhere.",
        .attrs = {{"T", floating}},
        .gradient = gradient,
        .example = R"(
dx = SeluGrad(f32[2, 2], f32[-0.5, 3])
fetch dx = f32[2.5161986, 2.101402]
)",
    },
    "outputs");

} // namespace troupe::ops::selu_grad_op

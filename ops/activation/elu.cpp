// Exponential linear units and their gradients, which are ops because a step runs them for every
// layer.
#include "troupe/ops/activation/shared/activation.hpp"

namespace troupe::ops::elu_op {
namespace {

edges elu_gradient(gradient_context& at) {
  return {at.op("EluGrad", {at.output_gradient(0), at.output(0)})};
}

// Where the output is negative, d/d(output) is the gradient.
edges elu_grad_gradient(gradient_context& at) {
  auto y = at.input(1), ddx = at.output_gradient(0);
  auto curved = build("Less", {y, scalar_like(y, 0)});
  return {at.op("EluGrad", {ddx, y}), build("Select", {curved, at.input(0) * ddx, zeros_of(y)})};
}

edges selu_gradient(gradient_context& at) {
  return {at.op("SeluGrad", {at.output_gradient(0), at.output(0)})};
}

// Where the output is negative, d/d(output) is the gradient.
edges selu_grad_gradient(gradient_context& at) {
  auto y = at.input(1), ddx = at.output_gradient(0);
  auto curved = build("Less", {y, scalar_like(y, 0)});
  return {at.op("SeluGrad", {ddx, y}), build("Select", {curved, at.input(0) * ddx, zeros_of(y)})};
}

} // namespace

extern constexpr op_def elu = activation({
    .name = "Elu",
    .doc = "Computes x where it is positive, exp(x) - 1 elsewhere, of each element.",
    .attrs = {{"T", floating}},
    .gradient = elu_gradient,
    .example = R"(
y = Elu(f32[-1, 0, 2.5])
fetch y = f32[-0.6321206, 0, 2.5]
)",
});

extern constexpr op_def elu_grad = activation_gradient(
    {
        .name = "EluGrad",
        .doc =
            "Computes the gradient of Elu from its outputs: where they are negative, the gradients "
            "times (outputs + 1).",
        .attrs = {{"T", floating}},
        .gradient = elu_grad_gradient,
        .example = R"(
dx = EluGrad(f32[2, 2], f32[-0.5, 3])
fetch dx = f32[1, 2]
)",
    },
    "outputs");

extern constexpr op_def selu = activation({
    .name = "Selu",
    .doc = "Computes scale * x where x is positive, scale * alpha * (exp(x) - 1) elsewhere.\n\n"
           "scale is 1.0507..., alpha 1.6732...: with these numbers, activations of mean 0 and "
           "variance 1 keep both from layer to layer.",
    .attrs = {{"T", floating}},
    .gradient = selu_gradient,
    .example = R"(
y = Selu(f32[-1, 0, 2])
fetch y = f32[-1.1113307, 0, 2.101402]
)",
});

extern constexpr op_def selu_grad = activation_gradient(
    {
        .name = "SeluGrad",
        .doc =
            "Computes the gradient of Selu from its outputs: the gradients times (outputs + scale "
            "* alpha) where outputs are negative, times scale elsewhere.",
        .attrs = {{"T", floating}},
        .gradient = selu_grad_gradient,
        .example = R"(
dx = SeluGrad(f32[2, 2], f32[-0.5, 3])
fetch dx = f32[2.5161986, 2.101402]
)",
    },
    "outputs");

} // namespace troupe::ops::elu_op

// Softplus, Softsign and their gradients, which are ops because a step runs them for every layer.
#include "troupe/ops/activation/shared/activation.hpp"

namespace troupe::ops::softplus_op {
namespace {

edges softplus_gradient(gradient_context& at) {
  return {at.op("SoftplusGrad", {at.output_gradient(0), at.input(0)})};
}

// The sigmoid s in the gradient has the slope s * (1 - s).
edges softplus_grad_gradient(gradient_context& at) {
  auto dy = at.input(0), x = at.input(1), ddx = at.output_gradient(0);
  auto sigmoid = build("Sigmoid", {x});
  return {at.op("SoftplusGrad", {ddx, x}), ddx * dy * sigmoid * (scalar_like(x, 1) - sigmoid)};
}

edges softsign_gradient(gradient_context& at) {
  return {at.op("SoftsignGrad", {at.output_gradient(0), at.input(0)})};
}

// d/dx of (1 + |x|)^-2 is -2 sign(x) (1 + |x|)^-3.
edges softsign_grad_gradient(gradient_context& at) {
  auto dy = at.input(0), x = at.input(1), ddx = at.output_gradient(0);
  auto third = at.op("SoftsignGrad", {ddx * dy, x}) / (scalar_like(x, 1) + build("Abs", {x}));
  return {at.op("SoftsignGrad", {ddx, x}), scalar_like(x, -2) * build("Sign", {x}) * third};
}

} // namespace

extern constexpr op_def softplus = activation({
    .name = "Softplus",
    .doc = "Computes log(1 + exp(x)) of each element.",
    .attrs = {{"T", floating}},
    .gradient = softplus_gradient,
    .example = R"(
y = Softplus(f32[0, 100, -30])
fetch y = f32[0.6931472, 100, 9.357623e-14]
)",
});

extern constexpr op_def softplus_grad = activation_gradient({
    .name = "SoftplusGrad",
    .doc = "Computes gradients / (1 + exp(-features)).",
    .attrs = {{"T", floating}},
    .gradient = softplus_grad_gradient,
    .example = R"(
dx = SoftplusGrad(f32[2, 2], f32[0, 100])
fetch dx = f32[1, 2]
)",
});

extern constexpr op_def softsign = activation({
    .name = "Softsign",
    .doc = "Computes x / (1 + |x|) of each element.",
    .attrs = {{"T", floating}},
    .gradient = softsign_gradient,
    .example = R"(
y = Softsign(f32[-1, 0, 3])
fetch y = f32[-0.5, 0, 0.75]
)",
});

extern constexpr op_def softsign_grad = activation_gradient({
    .name = "SoftsignGrad",
    .doc = "Computes gradients / (1 + |features|)^2.",
    .attrs = {{"T", floating}},
    .gradient = softsign_grad_gradient,
    .example = R"(
dx = SoftsignGrad(f32[4, 4], f32[-1, 0])
fetch dx = f32[1, 4]
)",
});

} // namespace troupe::ops::softplus_op

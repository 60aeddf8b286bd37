// Rectified linear units and their gradients, which are ops because a step runs them for every
// layer.
#include "troupe/ops/activation/shared/activation.hpp"
#include "troupe/runtime/graph/op.hpp"

namespace troupe::ops::relu_op {
namespace {

edges relu_gradient(gradient_context& at) {
  return {at.op("ReluGrad", {at.output_gradient(0), at.output(0)})};
}

// The features only decide which elements pass, so their own gradient is zero.
edges relu_grad_gradient(gradient_context& at) {
  return {at.op("ReluGrad", {at.output_gradient(0), at.input(1)}), {}};
}

edges relu6_gradient(gradient_context& at) {
  return {at.op("Relu6Grad", {at.output_gradient(0), at.input(0)})};
}

// The features only decide which elements pass, so their own gradient is zero.
edges relu6_grad_gradient(gradient_context& at) {
  return {at.op("Relu6Grad", {at.output_gradient(0), at.input(1)}), {}};
}

edges leaky_relu_gradient(gradient_context& at) {
  return {at.op("LeakyReluGrad", {at.output_gradient(0), at.input(0)},
                {{"alpha", at.attr<double>("alpha")}})};
}

// The features only decide which elements pass, so their own gradient is zero.
edges leaky_relu_grad_gradient(gradient_context& at) {
  return {at.op("LeakyReluGrad", {at.output_gradient(0), at.input(1)},
                {{"alpha", at.attr<double>("alpha")}}),
          {}};
}

} // namespace

extern constexpr op_def relu = activation({
    .name = "Relu",
    .doc = "Computes max(x, 0) of each element.",
    .attrs = {{"T", real_numbers}},
    .effects = effect::autocast_infer | effect::rectifies,
    .gradient = relu_gradient,
    .example = R"(
x = Placeholder dtype=f32 shape=[-1]
y = Relu(x)
feed x = f32[-1, 0, 2.5]
fetch y = f32[0, 0, 2.5]
)",
});

extern constexpr op_def relu_grad = activation_gradient({
    .name = "ReluGrad",
    .doc =
        "Passes the gradients on where the features of a Relu are positive, and zero elsewhere.\n\n"
        "The features may be the inputs or the outputs of that Relu.",
    .attrs = {{"T", real_numbers}},
    .effects = effect::autocast_infer,
    .gradient = relu_grad_gradient,
    .example = R"(
dy = Placeholder dtype=f32 shape=[-1]
y = Placeholder dtype=f32 shape=[-1]
dx = ReluGrad(dy, y)
feed dy = f32[1, 2, 3]
feed y = f32[-1, 0, 5]
fetch dx = f32[0, 0, 3]
)",
});

extern constexpr op_def relu6 = activation({
    .name = "Relu6",
    .doc = "Computes min(max(x, 0), 6) of each element.",
    .attrs = {{"T", real_numbers}},
    .effects = effect::autocast_infer,
    .gradient = relu6_gradient,
    .example = R"(
y = Relu6(f32[-1, 0, 2.5, 7])
fetch y = f32[0, 0, 2.5, 6]
)",
});

extern constexpr op_def relu6_grad = activation_gradient({
    .name = "Relu6Grad",
    .doc = "Passes the gradients on where the features of a Relu6 are in (0, 6), and zero "
           "elsewhere.\n\n"
           "The features may be the inputs or the outputs of that Relu6.",
    .attrs = {{"T", real_numbers}},
    .effects = effect::autocast_infer,
    .gradient = relu6_grad_gradient,
    .example = R"(
dx = Relu6Grad(f32[1, 2, 3], f32[-1, 5, 6])
fetch dx = f32[0, 2, 0]
)",
});

extern constexpr op_def leaky_relu = activation({
    .name = "LeakyRelu",
    .doc = "Computes x where it is positive, alpha * x elsewhere, of each element.",
    .attrs = {{"alpha", 0.2}, {"T", floating, dtype::f32}},
    .effects = effect::autocast_infer,
    .gradient = leaky_relu_gradient,
    .example = R"(
y = LeakyRelu(f32[-1, 0, 2.5]) alpha=0.25
fetch y = f32[-0.25, 0, 2.5]
)",
});

extern constexpr op_def leaky_relu_grad = activation_gradient({
    .name = "LeakyReluGrad",
    .doc = "Passes the gradients on where the features of a LeakyRelu are positive, times alpha "
           "elsewhere.\n\nThe features may be the inputs or, for a positive alpha, the outputs.",
    .attrs = {{"alpha", 0.2}, {"T", floating, dtype::f32}},
    .effects = effect::autocast_infer,
    .gradient = leaky_relu_grad_gradient,
    .example = R"(
dx = LeakyReluGrad(f32[1, 2, 3], f32[-1, 0, 5]) alpha=0.5
fetch dx = f32[0.5, 1, 3]
)",
});

} // namespace troupe::ops::relu_op

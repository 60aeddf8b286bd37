// SoftplusGrad: the gradient of Softplus, as an op of its own because a step runs it for every
// layer.
#include "troupe/ops/activation/shared/activation.hpp"

namespace troupe::ops::softplus_grad_op {
namespace {

// The sigmoid s that gradients are multiplied with has the slope s * (1 - s).
edges gradient(gradient_context& at) {
  auto dy = at.input(0), x = at.input(1), ddx = at.output_gradient(0);
  auto sigmoid = build("Sigmoid", {x});
  return {at.op("SoftplusGrad", {ddx, x}), ddx * dy * sigmoid * (scalar_like(x, 1) - sigmoid)};
}

} // namespace

extern constexpr op_def softplus_grad = activation_gradient({
    .name = "SoftplusGrad",
    .doc = "Computes gradients / (1 + exp(-features)).",
    .attrs = {{"T", floating}},
    .gradient = gradient,
    .example = R"(
dx = SoftplusGrad(f32[2, 2], f32[0, 100])
fetch dx = f32[1, 2]
)",
});

} // namespace troupe::ops::softplus_grad_op

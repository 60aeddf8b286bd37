// SoftsignGrad: the gradient of Softsign, as an op of its own because a step runs it for every
// layer.
#include "troupe/ops/activation/shared/activation.hpp"

namespace troupe::ops::softsign_grad_op {
namespace {

// d/dx of (1 + |x|)^-2 is -2 sign(x) (1 + |x|)^-3.
edges gradient(gradient_context& at) {
  auto dy = at.input(0), x = at.input(1), ddx = at.output_gradient(0);
  auto third = at.op("SoftsignGrad", {ddx * dy, x}) / (scalar_like(x, 1) + build("Abs", {x}));
  return {at.op("SoftsignGrad", {ddx, x}), scalar_like(x, -2) * build("Sign", {x}) * third};
}

} // namespace

extern constexpr op_def softsign_grad = activation_gradient({
    .name = "SoftsignGrad",
    .doc = "Computes gradients / (1 + |features|)^2.",
    .attrs = {{"T", floating}},
    .gradient = gradient,
    .example = R"(
dx = SoftsignGrad(f32[4, 4], f32[-1, 0])
fetch dx = f32[1, 4]
)",
});

} // namespace troupe::ops::softsign_grad_op

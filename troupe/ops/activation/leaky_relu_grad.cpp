// LeakyReluGrad: the gradient of LeakyRelu, as an op of its own because a step runs it for every
// layer.
#include "troupe/ops/activation/shared/activation.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::leaky_relu_grad_op {
namespace {

// The features only decide which elements pass; that does not change for a small change of theirs.
edges gradient(gradient_context& at) {
  return {at.op("LeakyReluGrad", {at.output_gradient(0), at.input(1)},
                {{"alpha", at.attr<double>("alpha")}}),
          {}};
}

} // namespace

extern constexpr op_def leaky_relu_grad = activation_gradient({
    .name = "LeakyReluGrad",
    .doc = "Passes the gradients on where the features of a LeakyRelu are positive, times alpha "
           "elsewhere.\n\nThe features may be the inputs or, for a positive alpha, the outputs.",
    .attrs = {{"alpha", 0.2}, {"T", floating, dtype::f32}},
    .effects = autocast_infer,
    .gradient = gradient,
    .example = R"(
dx = LeakyReluGrad(f32[1, 2, 3], f32[-1, 0, 5]) alpha=0.5
fetch dx = f32[0.5, 1, 3]
)",
});

} // namespace troupe::ops::leaky_relu_grad_op

// ReluGrad: the gradient of Relu, as an op of its own because a step runs it for every layer.
#include "troupe/ops/activation/shared/activation.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::relu_grad_op {
namespace {

// The features only decide which elements pass; that does not change for a small change of theirs.
edges gradient(gradient_context& at) {
  return {at.op("ReluGrad", {at.output_gradient(0), at.input(1)}), {}};
}

} // namespace

extern constexpr op_def relu_grad = activation_gradient({
    .name = "ReluGrad",
    .doc =
        "Passes the gradients on where the features of a Relu are positive, and zero elsewhere.\n\n"
        "The features may be the inputs or the outputs of that Relu.",
    .attrs = {{"T", real_numbers}},
    .effects = autocast_infer,
    .gradient = gradient,
    .example = R"(
dy = Placeholder dtype=f32 shape=[-1]
y = Placeholder dtype=f32 shape=[-1]
dx = ReluGrad(dy, y)
feed dy = f32[1, 2, 3]
feed y = f32[-1, 0, 5]
fetch dx = f32[0, 0, 3]
)",
});

} // namespace troupe::ops::relu_grad_op

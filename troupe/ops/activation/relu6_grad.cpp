// Relu6Grad: the gradient of Relu6, as an op of its own because a step runs it for every layer.
#include "troupe/ops/activation/shared/activation.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::relu6_grad_op {
namespace {

// The features only decide which elements pass; that does not change for a small change of theirs.
edges gradient(gradient_context& at) {
  return {at.op("Relu6Grad", {at.output_gradient(0), at.input(1)}), {}};
}

} // namespace

extern constexpr op_def relu6_grad = activation_gradient({
    .name = "Relu6Grad",
    .doc = "Passes the gradients on where the features of a Relu6 are in (0, 6), and zero "
           "elsewhere.\n\n"
           "The features may be the inputs or the outputs of that Relu6.",
    .attrs = {{"T", real_numbers}},
    .effects = autocast_infer,
    .gradient = gradient,
    .example = R"(
dx = Relu6Grad(f32[1, 2, 3], f32[-1, 5, 6])
fetch dx = f32[0, 2, 0]
)",
});

} // namespace troupe::ops::relu6_grad_op

// Selu: the activation of self-normalizing networks.
#include "troupe/ops/activation/shared/activation.hpp"

namespace troupe::ops::selu_op {
namespace {

edges gradient(gradient_context& at) {
  return {at.op("SeluGrad", {at.output_gradient(0), at.output(0)})};
}

} // namespace

extern constexpr op_def selu = activation({
    .name = "Selu",
    .doc = "Computes scale * x where x is positive, scale * alpha * (exp(x) - 1) elsewhere.\n\n"
           "scale is 1.0507..., alpha 1.6732...: with these numbers, activations of mean 0 and "
           "variance 1 keep both from layer to layer.",
    .attrs = {{"T", floating}},
    .gradient = gradient,
    .example = R"(
y = Selu(f32[-1, 0, 2])
fetch y = f32[-1.1113307, 0, 2.101402]
)",
});

} // namespace troupe::ops::selu_op

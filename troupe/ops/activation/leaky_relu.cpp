// LeakyRelu: a Relu that lets a little of negative elements through.
#include "troupe/ops/activation/shared/activation.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::leaky_relu_op {
namespace {

edges gradient(gradient_context& at) {
  return {at.op("LeakyReluGrad", {at.output_gradient(0), at.input(0)},
                {{"alpha", at.attr<double>("alpha")}})};
}

} // namespace

extern constexpr op_def leaky_relu = activation({
    .name = "LeakyRelu",
    .doc = "Computes x where it is positive, alpha * x elsewhere, of each element.",
    .attrs = {{"alpha", 0.2}, {"T", floating, dtype::f32}},
    .effects = autocast_infer,
    .gradient = gradient,
    .example = R"(
y = LeakyRelu(f32[-1, 0, 2.5]) alpha=0.25
fetch y = f32[-0.25, 0, 2.5]
)",
});

} // namespace troupe::ops::leaky_relu_op

// Elu: a Relu that is smooth below zero.
#include "troupe/ops/activation/shared/activation.hpp"

namespace troupe::ops::elu_op {
namespace {

edges gradient(gradient_context& at) {
  return {at.op("EluGrad", {at.output_gradient(0), at.output(0)})};
}

} // namespace

extern constexpr op_def elu = activation({
    .name = "Elu",
    .doc = "Computes x where it is positive, exp(x) - 1 elsewhere, of each element.",
    .attrs = {{"T", floating}},
    .gradient = gradient,
    .example = R"(
y = Elu(f32[-1, 0, 2.5])
fetch y = f32[-0.6321206, 0, 2.5]
)",
});

} // namespace troupe::ops::elu_op

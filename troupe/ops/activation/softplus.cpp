// Softplus: a smooth Relu.
#include "troupe/ops/activation/shared/activation.hpp"

namespace troupe::ops::softplus_op {
namespace {

edges gradient(gradient_context& at) {
  return {at.op("SoftplusGrad", {at.output_gradient(0), at.input(0)})};
}

} // namespace

extern constexpr op_def softplus = activation({
    .name = "Softplus",
    .doc = "Computes log(1 + exp(x)) of each element.",
    .attrs = {{"T", floating}},
    .gradient = gradient,
    .example = R"(
y = Softplus(f32[0, 100, -30])
fetch y = f32[0.6931472, 100, 9.357623e-14]
)",
});

} // namespace troupe::ops::softplus_op

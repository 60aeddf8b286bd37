// Relu: replaces negative elements by zero.
#include "troupe/ops/activation/shared/activation.hpp"
#include "troupe/runtime/graph/epilogue.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::relu_op {
namespace {

edges gradient(gradient_context& at) {
  return {at.op("ReluGrad", {at.output_gradient(0), at.output(0)})};
}

} // namespace

extern constexpr op_def relu = activation({
    .name = "Relu",
    .doc = "Computes max(x, 0) of each element.",
    .attrs = {{"T", real_numbers}},
    .effects = autocast_infer | rectifies,
    .gradient = gradient,
    .example = R"(
x = Placeholder dtype=f32 shape=[-1]
y = Relu(x)
feed x = f32[-1, 0, 2.5]
fetch y = f32[0, 0, 2.5]
)",
});

} // namespace troupe::ops::relu_op

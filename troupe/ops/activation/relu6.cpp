// Relu6: a Relu that saturates.
#include "troupe/ops/activation/shared/activation.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::relu6_op {
namespace {

edges gradient(gradient_context& at) {
  return {at.op("Relu6Grad", {at.output_gradient(0), at.input(0)})};
}

} // namespace

extern constexpr op_def relu6 = activation({
    .name = "Relu6",
    .doc = "Computes min(max(x, 0), 6) of each element.",
    .attrs = {{"T", real_numbers}},
    .effects = autocast_infer,
    .gradient = gradient,
    .example = R"(
y = Relu6(f32[-1, 0, 2.5, 7])
fetch y = f32[0, 0, 2.5, 6]
)",
});

} // namespace troupe::ops::relu6_op

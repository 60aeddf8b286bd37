// Softsign: a sigmoid without exponentials.
#include "troupe/ops/activation/shared/activation.hpp"

namespace troupe::ops::softsign_op {
namespace {

edges gradient(gradient_context& at) {
  return {at.op("SoftsignGrad", {at.output_gradient(0), at.input(0)})};
}

} // namespace

extern constexpr op_def softsign = activation({
    .name = "Softsign",
    .doc = "Computes x / (1 + |x|) of each element.",
    .attrs = {{"T", floating}},
    .gradient = gradient,
    .example = R"(
y = Softsign(f32[-1, 0, 3])
fetch y = f32[-0.5, 0, 0.75]
)",
});

} // namespace troupe::ops::softsign_op

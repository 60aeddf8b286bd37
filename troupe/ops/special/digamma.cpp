// Digamma: the logarithmic derivative of the gamma function of each element.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::digamma_op {
namespace {

edges gradient(gradient_context& at) {
  auto x = at.input(0), dy = at.output_gradient(0);
  return {dy * build("Polygamma", {scalar_like(x, 1), x})};
}

} // namespace

extern constexpr op_def digamma{
    .name = "Digamma",
    .doc = "Takes the derivative of Lgamma at each element.\n\nIt is NaN at 0 and at negative "
           "whole numbers.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Digamma(f32[1, 4, 0.5])
fetch y = f32[-0.5772157, 1.2561177, -1.9635101]
)",
};

} // namespace troupe::ops::digamma_op

// Lgamma: the logarithm of the gamma function of each element.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::lgamma_op {
namespace {

edges gradient(gradient_context& at) {
  auto x = at.input(0), dy = at.output_gradient(0);
  return {dy * build("Digamma", {x})};
}

} // namespace

extern constexpr op_def lgamma{
    .name = "Lgamma",
    .doc = "Takes the logarithm of the absolute value of the gamma function of each element.\n\nIt "
           "is infinite at 0 and at negative whole numbers.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Lgamma(f32[1, 4, 0.5, -1.5])
fetch y = f32[0, 1.7917595, 0.5723649, 0.860047]
)",
};

} // namespace troupe::ops::lgamma_op

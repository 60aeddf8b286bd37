// Igammac: the upper incomplete gamma function.
#include "troupe/ops/special/shared/incomplete_gamma.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::igammac_op {
namespace {

edges gradient(gradient_context& at) {
  return incomplete_gamma_gradient(at, -at.output_gradient(0));
}

} // namespace

extern constexpr op_def igammac{
    .name = "Igammac",
    .doc = "Computes 1 - Igamma(a, x), exact also where that is near 0.\n\nIt is NaN where a is "
           "not positive or x is negative. Broadcasts by NumPy's rules.",
    .inputs = {{"a", "T"}, {"x", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", floating}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = gradient,
    .example = R"(
z = Igammac(f32[1, 2], f32(1))
fetch z = f32[0.36787945, 0.7357589]
)",
};

} // namespace troupe::ops::igammac_op

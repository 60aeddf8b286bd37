// Igamma: the lower incomplete gamma function.
#include "troupe/ops/special/shared/incomplete_gamma.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::igamma_op {
namespace {

edges gradient(gradient_context& at) {
  return incomplete_gamma_gradient(at, at.output_gradient(0));
}

} // namespace

extern constexpr op_def igamma{
    .name = "Igamma",
    .doc = "Computes the regularized lower incomplete gamma function: the integral of t^(a - 1) * "
           "exp(-t) from 0 to x, over gamma(a).\n\nIt is NaN where a is not positive or x is "
           "negative. Broadcasts by NumPy's rules.",
    .inputs = {{"a", "T"}, {"x", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", floating}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = gradient,
    .example = R"(
z = Igamma(f32[1, 2], f32(1))
fetch z = f32[0.6321206, 0.26424113]
)",
};

} // namespace troupe::ops::igamma_op

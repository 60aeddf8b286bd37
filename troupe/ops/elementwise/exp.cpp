// Exp: e to the power of each element.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::exp_op {
namespace {

edges gradient(gradient_context& at) { return {at.output_gradient(0) * conjugate(at.output(0))}; }

} // namespace

extern constexpr op_def exp{
    .name = "Exp",
    .doc = "Raises e to the power of each element.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Exp(f32[0, 1, -1])
fetch y = f32[1, 2.7182817, 0.36787945]
)",
};

} // namespace troupe::ops::exp_op

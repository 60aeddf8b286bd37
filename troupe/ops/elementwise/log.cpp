// Log: the natural logarithm of each element.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::log_op {
namespace {

edges gradient(gradient_context& at) { return {at.output_gradient(0) / conjugate(at.input(0))}; }

} // namespace

extern constexpr op_def log{
    .name = "Log",
    .doc = "Takes the natural logarithm of each element.\n\nIt is -inf at 0 and NaN for negative "
           "numbers.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Log(f32[1, 2.7182817, 0])
fetch y = f32[0, 1, -inf]
)",
};

} // namespace troupe::ops::log_op

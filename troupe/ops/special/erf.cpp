// Erf: the error function of each element.
#include "troupe/ops/special/shared/error_function.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::erf_op {
namespace {

edges gradient(gradient_context& at) { return {error_function_gradient(at)}; }

} // namespace

extern constexpr op_def erf{
    .name = "Erf",
    .doc = "Takes the error function of each element: 2 / sqrt(pi) times the integral of exp(-t^2) "
           "from 0 to x.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Erf(f32[0, 0.5, -3])
fetch y = f32[0, 0.5204999, -0.9999779]
)",
};

} // namespace troupe::ops::erf_op

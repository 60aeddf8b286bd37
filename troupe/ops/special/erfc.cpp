// Erfc: the complement of the error function of each element.
#include "troupe/ops/special/shared/error_function.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::erfc_op {
namespace {

edges gradient(gradient_context& at) { return {-error_function_gradient(at)}; }

} // namespace

extern constexpr op_def erfc{
    .name = "Erfc",
    .doc = "Computes 1 - Erf(x) of each element, exact also where that is near 0.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Erfc(f32[0, 0.5, 3])
fetch y = f32[1, 0.47950011, 0.000022090497]
)",
};

} // namespace troupe::ops::erfc_op

// The error function and its complement.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

#include <numbers>

namespace troupe::ops::erf_op {
namespace {

// dy * d erf(x) / dx = dy * 2 / sqrt(pi) * exp(-x^2)
edge error_function_gradient(gradient_context& at) {
  auto x = at.input(0);
  return at.output_gradient(0) * scalar_like(x, 2 * std::numbers::inv_sqrtpi) *
         build("Exp", {-build("Square", {x})});
}

edges erf_gradient(gradient_context& at) { return {error_function_gradient(at)}; }

edges erfc_gradient(gradient_context& at) { return {-error_function_gradient(at)}; }

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
    .gradient = erf_gradient,
    .example = R"(
y = Erf(f32[0, 0.5, -3])
fetch y = f32[0, 0.5204999, -0.9999779]
)",
};

extern constexpr op_def erfc{
    .name = "Erfc",
    .doc = "Computes 1 - Erf(x) of each element, exact also where that is near 0.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = erfc_gradient,
    .example = R"(
y = Erfc(f32[0, 0.5, 3])
fetch y = f32[1, 0.47950011, 0.000022090497]
)",
};

} // namespace troupe::ops::erf_op

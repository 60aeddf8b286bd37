// Incomplete gamma functions.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::igamma_op {
namespace {

// The gradients of Igamma, where dz is the output's gradient: IgammaGradA for a, the integrand x^(a
// - 1) * exp(-x) / gamma(a) for x.
edges incomplete_gamma_gradient(gradient_context& at, edge dz) {
  auto a = at.input(0), x = at.input(1);
  auto integrand =
      build("Exp", {build("Xlogy", {a - scalar_like(a, 1), x}) - x - build("Lgamma", {a})});
  return {unbroadcast(dz * build("IgammaGradA", {a, x}), a, x), unbroadcast(dz * integrand, x, a)};
}

edges igamma_gradient(gradient_context& at) {
  return incomplete_gamma_gradient(at, at.output_gradient(0));
}

edges igammac_gradient(gradient_context& at) {
  return incomplete_gamma_gradient(at, -at.output_gradient(0));
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
    .gradient = igamma_gradient,
    .example = R"(
z = Igamma(f32[1, 2], f32(1))
fetch z = f32[0.6321206, 0.26424113]
)",
};

extern constexpr op_def igammac{
    .name = "Igammac",
    .doc = "Computes 1 - Igamma(a, x), exact also where that is near 0.\n\nIt is NaN where a is "
           "not positive or x is negative. Broadcasts by NumPy's rules.",
    .inputs = {{"a", "T"}, {"x", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", floating}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = igammac_gradient,
    .example = R"(
z = Igammac(f32[1, 2], f32(1))
fetch z = f32[0.36787945, 0.7357589]
)",
};

extern constexpr op_def igamma_grad_a{
    .name = "IgammaGradA",
    .doc = "Takes the derivative of Igamma(a, x) by a, element by element.\n\nBroadcasts by "
           "NumPy's rules.",
    .inputs = {{"a", "T"}, {"x", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", floating}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .no_gradient = "the second derivative has no closed form",
    .example = R"(
z = IgammaGradA(f32[1, 2], f32(1))
fetch z = f32[-0.43173888, -0.2761963]
)",
};

} // namespace troupe::ops::igamma_op

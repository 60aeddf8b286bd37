// The logarithm of the gamma function, its derivatives, and the zeta function.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::gamma_op {
namespace {

edges lgamma_gradient(gradient_context& at) {
  auto x = at.input(0), dy = at.output_gradient(0);
  return {dy * build("Digamma", {x})};
}

edges digamma_gradient(gradient_context& at) {
  auto x = at.input(0), dy = at.output_gradient(0);
  return {dy * build("Polygamma", {scalar_like(x, 1), x})};
}

// The order has no derivative.
edges polygamma_gradient(gradient_context& at) {
  auto a = at.input(0), x = at.input(1), dz = at.output_gradient(0);
  return {{}, unbroadcast(dz * build("Polygamma", {a + scalar_like(a, 1), x}), x, a)};
}

// dq = -dz * x * zeta(x + 1, q); the derivative for x has no closed form.
edges zeta_gradient(gradient_context& at) {
  auto x = at.input(0), q = at.input(1), dz = at.output_gradient(0);
  return {{}, unbroadcast(-(dz * x * build("Zeta", {x + scalar_like(x, 1), q})), q, x)};
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
    .gradient = lgamma_gradient,
    .example = R"(
y = Lgamma(f32[1, 4, 0.5, -1.5])
fetch y = f32[0, 1.7917595, 0.5723649, 0.860047]
)",
};

extern constexpr op_def digamma{
    .name = "Digamma",
    .doc = "Takes the derivative of Lgamma at each element.\n\nIt is NaN at 0 and at negative "
           "whole numbers.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = digamma_gradient,
    .example = R"(
y = Digamma(f32[1, 4, 0.5])
fetch y = f32[-0.5772157, 1.2561177, -1.9635101]
)",
};

extern constexpr op_def polygamma{
    .name = "Polygamma",
    .doc = "Takes the derivative of order a of Digamma at x, element by element.\n\nBroadcasts by "
           "NumPy's rules. Only x has a gradient.",
    .inputs = {{"a", "T"}, {"x", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", floating}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = polygamma_gradient,
    .example = R"(
z = Polygamma(f32[1, 2], f32(1))
fetch z = f32[1.6449341, -2.4041138]
)",
};

extern constexpr op_def zeta{
    .name = "Zeta",
    .doc = "Computes the Hurwitz zeta function, the sum of (q + k)^-x over all k from 0, element "
           "by element.\n\nBroadcasts by NumPy's rules. Only q has a gradient.",
    .inputs = {{"x", "T"}, {"q", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", floating}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = zeta_gradient,
    .example = R"(
z = Zeta(f32[2, 3], f32(1))
fetch z = f32[1.6449341, 1.2020569]
)",
};

} // namespace troupe::ops::gamma_op

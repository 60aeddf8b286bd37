// Zeta: the Hurwitz zeta function.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::zeta_op {
namespace {

// dq = -dz * x * zeta(x + 1, q); that of x has no closed form.
edges gradient(gradient_context& at) {
  auto x = at.input(0), q = at.input(1), dz = at.output_gradient(0);
  return {{}, unbroadcast(-(dz * x * build("Zeta", {x + scalar_like(x, 1), q})), q, x)};
}

} // namespace

extern constexpr op_def zeta{
    .name = "Zeta",
    .doc = "Computes the Hurwitz zeta function, the sum of (q + k)^-x over all k from 0, element "
           "by element.\n\nBroadcasts by NumPy's rules. Only q has a gradient.",
    .inputs = {{"x", "T"}, {"q", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", floating}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = gradient,
    .example = R"(
z = Zeta(f32[2, 3], f32(1))
fetch z = f32[1.6449341, 1.2020569]
)",
};

} // namespace troupe::ops::zeta_op

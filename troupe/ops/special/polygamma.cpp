// Polygamma: derivatives of the digamma function.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::polygamma_op {
namespace {

// The order has no derivative.
edges gradient(gradient_context& at) {
  auto a = at.input(0), x = at.input(1), dz = at.output_gradient(0);
  return {{}, unbroadcast(dz * build("Polygamma", {a + scalar_like(a, 1), x}), x, a)};
}

} // namespace

extern constexpr op_def polygamma{
    .name = "Polygamma",
    .doc = "Takes the derivative of order a of Digamma at x, element by element.\n\nBroadcasts by "
           "NumPy's rules. Only x has a gradient.",
    .inputs = {{"a", "T"}, {"x", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", floating}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = gradient,
    .example = R"(
z = Polygamma(f32[1, 2], f32(1))
fetch z = f32[1.6449341, -2.4041138]
)",
};

} // namespace troupe::ops::polygamma_op

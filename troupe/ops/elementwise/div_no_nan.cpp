// DivNoNan: the quotient of each two elements, or zero.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::div_no_nan_op {
namespace {

edges gradient(gradient_context& at) {
  auto x = at.input(0), y = at.input(1), dz = at.output_gradient(0);
  auto divided = [](edge a, edge b) { return build("DivNoNan", {a, conjugate(b)}); };
  return {unbroadcast(divided(dz, y), x, y),
          unbroadcast(-divided(dz * conjugate(at.output(0)), y), y, x)};
}

} // namespace

extern constexpr op_def div_no_nan{
    .name = "DivNoNan",
    .doc = "Divides x by y, element by element, and gives 0 where y is 0.\n\nBroadcasts by NumPy's "
           "rules.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = gradient,
    .example = R"(
z = DivNoNan(f32[1, -2, 3], f32[2, 1, 0])
fetch z = f32[0.5, -2, 0]
)",
};

} // namespace troupe::ops::div_no_nan_op

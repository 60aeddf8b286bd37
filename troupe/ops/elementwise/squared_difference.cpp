// SquaredDifference: the squared distance of each two elements.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::squared_difference_op {
namespace {

edges gradient(gradient_context& at) {
  auto x = at.input(0), y = at.input(1), dz = at.output_gradient(0);
  auto dx = scalar_like(dz, 2) * (dz * (x - y));
  return {unbroadcast(dx, x, y), unbroadcast(-dx, y, x)};
}

} // namespace

extern constexpr op_def squared_difference{
    .name = "SquaredDifference",
    .doc = "Squares the difference of x and y, element by element.\n\nBroadcasts by NumPy's rules. "
           "For complex numbers it is the difference times its conjugate.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", floating | complex_types | index_types}},
    .effects =
        effect::forwardable | effect::commutative | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = gradient,
    .example = R"(
z = SquaredDifference(f32[1, 2, 3], f32[3, 3, 3])
fetch z = f32[4, 1, 0]
)",
};

} // namespace troupe::ops::squared_difference_op

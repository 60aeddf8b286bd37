// Atan2: the angle of each point.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::atan2_op {
namespace {

// dy = dz * x / (x^2 + y^2), dx = -dz * y / (x^2 + y^2)
edges gradient(gradient_context& at) {
  auto y = at.input(0), x = at.input(1);
  auto scaled = at.output_gradient(0) / (build("Square", {x}) + build("Square", {y}));
  return {unbroadcast(scaled * x, y, x), unbroadcast(-(scaled * y), x, y)};
}

} // namespace

extern constexpr op_def atan2{
    .name = "Atan2",
    .doc = "Takes the angle of the point (x, y) with the axis of x, in radians, element by "
           "element.\n\nBroadcasts by NumPy's rules.",
    .inputs = {{"y", "T"}, {"x", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", floating}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = gradient,
    .example = R"(
z = Atan2(f32[1, -1, 0], f32[1, 1, -1])
fetch z = f32[0.7853982, -0.7853982, 3.1415927]
)",
};

} // namespace troupe::ops::atan2_op

// Atan: the inverse tangent of each element.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::atan_op {
namespace {

// dx = dy / (1 + x^2)
edges gradient(gradient_context& at) {
  auto x = conjugate(at.input(0)), dy = at.output_gradient(0);
  return {dy / (scalar_like(x, 1) + build("Square", {x}))};
}

} // namespace

extern constexpr op_def atan{
    .name = "Atan",
    .doc = "Takes the inverse tangent of each element, in radians.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Atan(f32[0, 1, -2])
fetch y = f32[0, 0.7853982, -1.1071488]
)",
};

} // namespace troupe::ops::atan_op

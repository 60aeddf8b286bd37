// Tan: the tangent of each element.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::tan_op {
namespace {

// dx = dy * (1 + y^2)
edges gradient(gradient_context& at) {
  auto y = conjugate(at.output(0)), dy = at.output_gradient(0);
  return {dy * (scalar_like(y, 1) + build("Square", {y}))};
}

} // namespace

extern constexpr op_def tan{
    .name = "Tan",
    .doc = "Takes the tangent of each element, an angle in radians.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Tan(f32[0, 1, -0.5])
fetch y = f32[0, 1.5574077, -0.5463025]
)",
};

} // namespace troupe::ops::tan_op

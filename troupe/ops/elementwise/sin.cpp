// Sin: the sine of each element.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::sin_op {
namespace {

edges gradient(gradient_context& at) {
  auto x = conjugate(at.input(0)), dy = at.output_gradient(0);
  return {dy * build("Cos", {x})};
}

} // namespace

extern constexpr op_def sin{
    .name = "Sin",
    .doc = "Takes the sine of each element, an angle in radians.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Sin(f32[0, 1.5707964, -1])
fetch y = f32[0, 1, -0.84147096]
)",
};

} // namespace troupe::ops::sin_op

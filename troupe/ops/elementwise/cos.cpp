// Cos: the cosine of each element.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::cos_op {
namespace {

edges gradient(gradient_context& at) {
  auto x = conjugate(at.input(0)), dy = at.output_gradient(0);
  return {-(dy * build("Sin", {x}))};
}

} // namespace

extern constexpr op_def cos{
    .name = "Cos",
    .doc = "Takes the cosine of each element, an angle in radians.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Cos(f32[0, 3.1415927, -1])
fetch y = f32[1, -1, 0.5403023]
)",
};

} // namespace troupe::ops::cos_op

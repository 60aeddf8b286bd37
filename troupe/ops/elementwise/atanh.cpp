// Atanh: the inverse hyperbolic tangent of each element.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::atanh_op {
namespace {

// dx = dy / (1 - x^2)
edges gradient(gradient_context& at) {
  auto x = conjugate(at.input(0)), dy = at.output_gradient(0);
  return {dy / (scalar_like(x, 1) - build("Square", {x}))};
}

} // namespace

extern constexpr op_def atanh{
    .name = "Atanh",
    .doc = "Takes the inverse hyperbolic tangent of each element.\n\nIt is infinite for -1 and 1, "
           "and NaN for real numbers beyond.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Atanh(f32[0, 0.5, -0.25])
fetch y = f32[0, 0.54930615, -0.25541282]
)",
};

} // namespace troupe::ops::atanh_op

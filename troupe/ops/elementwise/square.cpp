// Square: the square of each element.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::square_op {
namespace {

edges gradient(gradient_context& at) {
  auto x = at.input(0), dy = at.output_gradient(0);
  return {dy * (scalar_like(x, 2) * conjugate(x))};
}

} // namespace

extern constexpr op_def square{
    .name = "Square",
    .doc = "Multiplies each element by itself.\n\nWhole numbers wrap around.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", numbers}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Square(f32[1, -2, 3])
fetch y = f32[1, 4, 9]
)",
};

} // namespace troupe::ops::square_op

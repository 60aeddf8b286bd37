// Sqrt: the square root of each element.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::sqrt_op {
namespace {

edges gradient(gradient_context& at) {
  auto y = at.output(0), dy = at.output_gradient(0);
  return {dy * scalar_like(y, 0.5) / conjugate(y)};
}

} // namespace

extern constexpr op_def sqrt{
    .name = "Sqrt",
    .doc = "Takes the square root of each element.\n\nIt is NaN for negative numbers.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Sqrt(f32[0, 4, 9])
fetch y = f32[0, 2, 3]
)",
};

} // namespace troupe::ops::sqrt_op

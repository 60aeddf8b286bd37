// Asin: the inverse sine of each element.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::asin_op {
namespace {

// dx = dy / sqrt(1 - x^2)
edges gradient(gradient_context& at) {
  auto x = conjugate(at.input(0)), dy = at.output_gradient(0);
  return {dy * build("Rsqrt", {scalar_like(x, 1) - build("Square", {x})})};
}

} // namespace

extern constexpr op_def asin{
    .name = "Asin",
    .doc = "Takes the inverse sine of each element, in radians.\n\nIt is NaN for real numbers "
           "beyond [-1, 1].",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Asin(f32[0, 0.5, -0.25])
fetch y = f32[0, 0.5235988, -0.25268027]
)",
};

} // namespace troupe::ops::asin_op

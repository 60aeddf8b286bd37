// Asinh: the inverse hyperbolic sine of each element.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::asinh_op {
namespace {

// x = sinh(y), whose derivative is cosh(y)
edges gradient(gradient_context& at) {
  auto y = conjugate(at.output(0)), dy = at.output_gradient(0);
  return {dy / build("Cosh", {y})};
}

} // namespace

extern constexpr op_def asinh{
    .name = "Asinh",
    .doc = "Takes the inverse hyperbolic sine of each element.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Asinh(f32[0, 1, -2])
fetch y = f32[0, 0.8813736, -1.4436355]
)",
};

} // namespace troupe::ops::asinh_op

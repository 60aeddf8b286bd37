// Sinh: the hyperbolic sine of each element.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::sinh_op {
namespace {

edges gradient(gradient_context& at) {
  auto x = conjugate(at.input(0)), dy = at.output_gradient(0);
  return {dy * build("Cosh", {x})};
}

} // namespace

extern constexpr op_def sinh{
    .name = "Sinh",
    .doc = "Takes the hyperbolic sine of each element.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Sinh(f32[0, 1, -2])
fetch y = f32[0, 1.1752012, -3.6268604]
)",
};

} // namespace troupe::ops::sinh_op

// Cosh: the hyperbolic cosine of each element.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::cosh_op {
namespace {

edges gradient(gradient_context& at) {
  auto x = conjugate(at.input(0)), dy = at.output_gradient(0);
  return {dy * build("Sinh", {x})};
}

} // namespace

extern constexpr op_def cosh{
    .name = "Cosh",
    .doc = "Takes the hyperbolic cosine of each element.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Cosh(f32[0, 1, -2])
fetch y = f32[1, 1.5430806, 3.7621956]
)",
};

} // namespace troupe::ops::cosh_op

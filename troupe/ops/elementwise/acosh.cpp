// Acosh: the inverse hyperbolic cosine of each element.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::acosh_op {
namespace {

// x = cosh(y), whose derivative is sinh(y)
edges gradient(gradient_context& at) {
  auto y = conjugate(at.output(0)), dy = at.output_gradient(0);
  return {dy / build("Sinh", {y})};
}

} // namespace

extern constexpr op_def acosh{
    .name = "Acosh",
    .doc = "Takes the inverse hyperbolic cosine of each element.\n\nIt is NaN for real numbers "
           "below 1.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Acosh(f32[1, 2, 10])
fetch y = f32[0, 1.316958, 2.993223]
)",
};

} // namespace troupe::ops::acosh_op

// Abs: the absolute value of each element.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::abs_op {
namespace {

edges gradient(gradient_context& at) {
  return {at.output_gradient(0) * build("Sign", {at.input(0)})};
}

} // namespace

extern constexpr op_def abs{
    .name = "Abs",
    .doc = "Takes the absolute value of each element.\n\nThe least whole number stays as it is. "
           "The gradient at 0 is 0.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | signed_integers}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Abs(f32[1, -2, 0.5])
fetch y = f32[1, 2, 0.5]
)",
};

} // namespace troupe::ops::abs_op

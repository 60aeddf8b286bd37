// Signs and absolute values.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/simplify.hpp"

namespace troupe::ops::sign_op {
namespace {

edges abs_gradient(gradient_context& at) {
  return {at.output_gradient(0) * build("Sign", {at.input(0)})};
}

edges neg_gradient(gradient_context& at) { return {-at.output_gradient(0)}; }

// -(-x) = x
edge simplify(simplify_context& at) {
  auto* inner = at.same_op_behind(0);
  return inner ? inner->inputs()[0] : edge{};
}

edges sign_gradient(gradient_context& at) { return {zeros_of(at.input(0))}; }

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
    .gradient = abs_gradient,
    .example = R"(
y = Abs(f32[1, -2, 0.5])
fetch y = f32[1, 2, 0.5]
)",
};

extern constexpr op_def neg{
    .name = "Neg",
    .doc = "Negates each element.\n\nThe least whole number stays as it is.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types | signed_integers}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = neg_gradient,
    .simplify = simplify,
    .example = R"(
y = Neg(f32[1, -2, 0.5])
fetch y = f32[-1, 2, -0.5]
)",
};

extern constexpr op_def sign{
    .name = "Sign",
    .doc = "Gives -1, 0 or 1 by the sign of each element.\n\nNaN stays NaN. For complex numbers it "
           "is x / |x|, or 0 where x is 0. The gradient is 0.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types | signed_integers}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = sign_gradient,
    .example = R"(
y = Sign(f32[3, -2, 0])
fetch y = f32[1, -1, 0]
)",
};

} // namespace troupe::ops::sign_op

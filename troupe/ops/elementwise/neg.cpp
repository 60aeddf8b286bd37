// Neg: the negative of each element.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/simplify.hpp"

namespace troupe::ops::neg_op {
namespace {

edges gradient(gradient_context& at) { return {-at.output_gradient(0)}; }

// -(-x) = x
edge simplify(simplify_context& at) {
  auto* inner = at.same_op_behind(0);
  return inner ? inner->inputs()[0] : edge{};
}

} // namespace

extern constexpr op_def neg{
    .name = "Neg",
    .doc = "Negates each element.\n\nThe least whole number stays as it is.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types | signed_integers}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .simplify = simplify,
    .example = R"(
y = Neg(f32[1, -2, 0.5])
fetch y = f32[-1, 2, -0.5]
)",
};

} // namespace troupe::ops::neg_op

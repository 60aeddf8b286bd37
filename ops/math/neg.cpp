// Neg: the negative of each element.
#include "troupe/ops/build.hpp"
#include "troupe/runtime/infer.hpp"

namespace troupe::ops {
namespace {

edges gradient(gradient_context& at) { return {-at.output_gradient(0)}; }

} // namespace

extern constexpr op_def neg{
    .name = "Neg",
    .doc = "Negates each element.\n\nThe least whole number stays as it is.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types | signed_integers}},
    .effects = effect::forwardable,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Neg(f32[1, -2, 0.5])
fetch y = f32[-1, 2, -0.5]
)",
};

} // namespace troupe::ops

// Sign: the sign of each element.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::sign_op {
namespace {

edges gradient(gradient_context& at) { return {zeros_of(at.input(0))}; }

} // namespace

extern constexpr op_def sign{
    .name = "Sign",
    .doc = "Gives -1, 0 or 1 by the sign of each element.\n\nNaN stays NaN. For complex numbers it "
           "is x / |x|, or 0 where x is 0. The gradient is 0.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types | signed_integers}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Sign(f32[3, -2, 0])
fetch y = f32[1, -1, 0]
)",
};

} // namespace troupe::ops::sign_op

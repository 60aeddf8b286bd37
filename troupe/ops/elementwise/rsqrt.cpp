// Rsqrt: the reciprocal square root of each element.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::rsqrt_op {
namespace {

// dx = dy * -y^3 / 2
edges gradient(gradient_context& at) {
  auto y = conjugate(at.output(0)), dy = at.output_gradient(0);
  return {dy * scalar_like(y, -0.5) * (y * y * y)};
}

} // namespace

extern constexpr op_def rsqrt{
    .name = "Rsqrt",
    .doc = "Takes the reciprocal of the square root of each element.\n\nIt is inf at 0 and NaN for "
           "negative numbers.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Rsqrt(f32[1, 4, 0])
fetch y = f32[1, 0.5, inf]
)",
};

} // namespace troupe::ops::rsqrt_op

// Expm1: e to the power of each element, less one.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::expm1_op {
namespace {

// dx = dy * exp(x), which is y + 1
edges gradient(gradient_context& at) {
  auto y = conjugate(at.output(0)), dy = at.output_gradient(0);
  return {dy * (y + scalar_like(y, 1))};
}

} // namespace

extern constexpr op_def expm1{
    .name = "Expm1",
    .doc = "Computes exp(x) - 1 of each element, exact also where x is near 0.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Expm1(f32[0, 1, 1e-10])
fetch y = f32[0, 1.7182819, 1e-10]
)",
};

} // namespace troupe::ops::expm1_op

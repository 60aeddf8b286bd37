// RsqrtGrad: the gradient of Rsqrt from its output.
#include "troupe/ops/elementwise/shared/output_gradients.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::rsqrt_grad_op {
namespace {

// -3/2 dz * dy * y^2
edges gradient(gradient_context& at) {
  auto y = conjugate(at.input(0)), dy = at.input(1), dz = conjugate(at.output_gradient(0));
  return paired_gradients(at, scalar_like(y, -1.5) * dz * dy * build("Square", {y}));
}

} // namespace

extern constexpr op_def rsqrt_grad{
    .name = "RsqrtGrad",
    .doc = "Computes the gradient of Rsqrt from its output y: -dy * y^3 / 2.\n\nIt is 0 where dy "
           "is, whatever y is. For complex numbers it takes the conjugate of y.",
    .inputs = {{"y", "T"}, {"dy", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer_paired,
    .gradient = gradient,
    .example = R"(
y = Placeholder dtype=f32 shape=[-1]
dy = Placeholder dtype=f32 shape=[-1]
z = RsqrtGrad(y, dy)
feed y = f32[0.5, 2]
feed dy = f32[8, 1]
fetch z = f32[-0.5, -4]
)",
};

} // namespace troupe::ops::rsqrt_grad_op

// SqrtGrad: the gradient of Sqrt from its output.
#include "troupe/ops/elementwise/shared/output_gradients.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::sqrt_grad_op {
namespace {

// -dz * z / y
edges gradient(gradient_context& at) {
  auto y = conjugate(at.input(0)), dz = conjugate(at.output_gradient(0));
  return paired_gradients(at, -(dz * at.output(0) / y));
}

} // namespace

extern constexpr op_def sqrt_grad{
    .name = "SqrtGrad",
    .doc = "Computes the gradient of Sqrt from its output y: dy / (2 y).\n\nIt is 0 where dy is, "
           "whatever y is. For complex numbers it takes the conjugate of y.",
    .inputs = {{"y", "T"}, {"dy", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer_paired,
    .gradient = gradient,
    .example = R"(
y = Placeholder dtype=f32 shape=[-1]
dy = Placeholder dtype=f32 shape=[-1]
z = SqrtGrad(y, dy)
feed y = f32[0.5, 2]
feed dy = f32[1, 2]
fetch z = f32[1, 0.5]
)",
};

} // namespace troupe::ops::sqrt_grad_op

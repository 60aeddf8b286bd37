// ReciprocalGrad: the gradient of Reciprocal from its output.
#include "troupe/ops/elementwise/shared/output_gradients.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::reciprocal_grad_op {
namespace {

// -dz * dy * 2 y
edges gradient(gradient_context& at) {
  auto y = conjugate(at.input(0)), dy = at.input(1), dz = conjugate(at.output_gradient(0));
  return paired_gradients(at, -(dz * dy * (y + y)));
}

} // namespace

extern constexpr op_def reciprocal_grad{
    .name = "ReciprocalGrad",
    .doc = "Computes the gradient of Reciprocal from its output y: -dy * y^2.\n\nIt is 0 where dy "
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
z = ReciprocalGrad(y, dy)
feed y = f32[0.5, 2]
feed dy = f32[8, 1]
fetch z = f32[-2, -4]
)",
};

} // namespace troupe::ops::reciprocal_grad_op

// TanhGrad: the gradient of Tanh, as an op of its own because a step runs it for every layer.
#include "troupe/ops/elementwise/shared/output_gradients.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::tanh_grad_op {
namespace {

// -dz * dy * 2 y
edges gradient(gradient_context& at) {
  auto y = conjugate(at.input(0)), dy = conjugate(at.input(1)), dz = at.output_gradient(0);
  return paired_gradients(at, -(dz * dy * (y + y)));
}

} // namespace

extern constexpr op_def tanh_grad{
    .name = "TanhGrad",
    .doc = "Computes the gradient of Tanh from its output y: dy * (1 - y^2).",
    .inputs = {{"y", "T"}, {"dy", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer_paired,
    .gradient = gradient,
    .example = R"(
y = Placeholder dtype=f32 shape=[-1]
dy = Placeholder dtype=f32 shape=[-1]
z = TanhGrad(y, dy)
feed y = f32[0.5, 0]
feed dy = f32[1, 2]
fetch z = f32[0.75, 2]
)",
};

} // namespace troupe::ops::tanh_grad_op

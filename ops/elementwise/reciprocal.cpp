// One divided by each element, under two names, and the gradients.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/elementwise/shared/output_gradients.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::reciprocal_op {
namespace {

// dx = -dy * y^2
edges reciprocal_gradient(gradient_context& at) {
  return {build("ReciprocalGrad", {at.output(0), at.output_gradient(0)})};
}

// -dz * dy * 2 y
edges gradient(gradient_context& at) {
  auto y = conjugate(at.input(0)), dy = at.input(1), dz = conjugate(at.output_gradient(0));
  return paired_gradients(at, -(dz * dy * (y + y)));
}

} // namespace

extern constexpr op_def reciprocal{
    .name = "Reciprocal",
    .doc = "Divides one by each element.\n\nIt is infinite at 0.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = reciprocal_gradient,
    .example = R"(
y = Reciprocal(f32[1, -2, 0.25])
fetch y = f32[1, -0.5, 4]
)",
};

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

extern constexpr op_def inv{
    .name = "Inv",
    .doc = "Divides one by each element.\n\nIt is infinite at 0. It is an old name of Reciprocal.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = reciprocal_gradient,
    .example = R"(
y = Inv(f32[1, -2, 0.25])
fetch y = f32[1, -0.5, 4]
)",
};

extern constexpr op_def inv_grad{
    .name = "InvGrad",
    .doc = "Computes the gradient of Inv from its output y: -dy * y^2.\n\nIt is 0 where dy is, "
           "whatever y is. For complex numbers it takes the conjugate of y. It is an old name of "
           "ReciprocalGrad.",
    .inputs = {{"y", "T"}, {"dy", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer_paired,
    .gradient = gradient,
    .example = R"(
y = Placeholder dtype=f32 shape=[-1]
dy = Placeholder dtype=f32 shape=[-1]
z = InvGrad(y, dy)
feed y = f32[0.5, 2]
feed dy = f32[8, 1]
fetch z = f32[-2, -4]
)",
};

} // namespace troupe::ops::reciprocal_op

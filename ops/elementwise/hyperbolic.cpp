// Hyperbolic functions and their inverses.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/elementwise/shared/output_gradients.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::hyperbolic_op {
namespace {

edges sinh_gradient(gradient_context& at) {
  auto x = conjugate(at.input(0)), dy = at.output_gradient(0);
  return {dy * build("Cosh", {x})};
}

edges cosh_gradient(gradient_context& at) {
  auto x = conjugate(at.input(0)), dy = at.output_gradient(0);
  return {dy * build("Sinh", {x})};
}

// dx = dy * (1 - y^2)
edges tanh_gradient(gradient_context& at) {
  auto y = conjugate(at.output(0)), dy = at.output_gradient(0);
  return {dy * (scalar_like(y, 1) - build("Square", {y}))};
}

// -dz * dy * 2 y
edges tanh_grad_gradient(gradient_context& at) {
  auto y = conjugate(at.input(0)), dy = conjugate(at.input(1)), dz = at.output_gradient(0);
  return paired_gradients(at, -(dz * dy * (y + y)));
}

// x = sinh(y), whose derivative is cosh(y)
edges asinh_gradient(gradient_context& at) {
  auto y = conjugate(at.output(0)), dy = at.output_gradient(0);
  return {dy / build("Cosh", {y})};
}

// x = cosh(y), whose derivative is sinh(y)
edges acosh_gradient(gradient_context& at) {
  auto y = conjugate(at.output(0)), dy = at.output_gradient(0);
  return {dy / build("Sinh", {y})};
}

// dx = dy / (1 - x^2)
edges atanh_gradient(gradient_context& at) {
  auto x = conjugate(at.input(0)), dy = at.output_gradient(0);
  return {dy / (scalar_like(x, 1) - build("Square", {x}))};
}

} // namespace

extern constexpr op_def sinh{
    .name = "Sinh",
    .doc = "Takes the hyperbolic sine of each element.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = sinh_gradient,
    .example = R"(
y = Sinh(f32[0, 1, -2])
fetch y = f32[0, 1.1752012, -3.6268604]
)",
};

extern constexpr op_def cosh{
    .name = "Cosh",
    .doc = "Takes the hyperbolic cosine of each element.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = cosh_gradient,
    .example = R"(
y = Cosh(f32[0, 1, -2])
fetch y = f32[1, 1.5430806, 3.7621956]
)",
};

extern constexpr op_def tanh{
    .name = "Tanh",
    .doc = "Takes the hyperbolic tangent of each element.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = tanh_gradient,
    .example = R"(
y = Tanh(f32[0, 1, -20])
fetch y = f32[0, 0.7615942, -1]
)",
};

extern constexpr op_def tanh_grad{
    .name = "TanhGrad",
    .doc = "Computes the gradient of Tanh from its output y: dy * (1 - y^2).",
    .inputs = {{"y", "T"}, {"dy", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer_paired,
    .gradient = tanh_grad_gradient,
    .example = R"(
y = Placeholder dtype=f32 shape=[-1]
dy = Placeholder dtype=f32 shape=[-1]
z = TanhGrad(y, dy)
feed y = f32[0.5, 0]
feed dy = f32[1, 2]
fetch z = f32[0.75, 2]
)",
};

extern constexpr op_def asinh{
    .name = "Asinh",
    .doc = "Takes the inverse hyperbolic sine of each element.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = asinh_gradient,
    .example = R"(
y = Asinh(f32[0, 1, -2])
fetch y = f32[0, 0.8813736, -1.4436355]
)",
};

extern constexpr op_def acosh{
    .name = "Acosh",
    .doc = "Takes the inverse hyperbolic cosine of each element.\n\nIt is NaN for real numbers "
           "below 1.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = acosh_gradient,
    .example = R"(
y = Acosh(f32[1, 2, 10])
fetch y = f32[0, 1.316958, 2.993223]
)",
};

extern constexpr op_def atanh{
    .name = "Atanh",
    .doc = "Takes the inverse hyperbolic tangent of each element.\n\nIt is infinite for -1 and 1, "
           "and NaN for real numbers beyond.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = atanh_gradient,
    .example = R"(
y = Atanh(f32[0, 0.5, -0.25])
fetch y = f32[0, 0.54930615, -0.25541282]
)",
};

} // namespace troupe::ops::hyperbolic_op

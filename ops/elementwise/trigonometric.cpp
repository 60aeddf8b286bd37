// Trigonometric functions and their inverses.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::trigonometric_op {
namespace {

edges sin_gradient(gradient_context& at) {
  auto x = conjugate(at.input(0)), dy = at.output_gradient(0);
  return {dy * build("Cos", {x})};
}

edges cos_gradient(gradient_context& at) {
  auto x = conjugate(at.input(0)), dy = at.output_gradient(0);
  return {-(dy * build("Sin", {x}))};
}

// dx = dy * (1 + y^2)
edges tan_gradient(gradient_context& at) {
  auto y = conjugate(at.output(0)), dy = at.output_gradient(0);
  return {dy * (scalar_like(y, 1) + build("Square", {y}))};
}

// dx = dy / sqrt(1 - x^2)
edges asin_gradient(gradient_context& at) {
  auto x = conjugate(at.input(0)), dy = at.output_gradient(0);
  return {dy * build("Rsqrt", {scalar_like(x, 1) - build("Square", {x})})};
}

// dx = -dy / sqrt(1 - x^2)
edges acos_gradient(gradient_context& at) {
  auto x = conjugate(at.input(0)), dy = at.output_gradient(0);
  return {-(dy * build("Rsqrt", {scalar_like(x, 1) - build("Square", {x})}))};
}

// dx = dy / (1 + x^2)
edges atan_gradient(gradient_context& at) {
  auto x = conjugate(at.input(0)), dy = at.output_gradient(0);
  return {dy / (scalar_like(x, 1) + build("Square", {x}))};
}

// dy = dz * x / (x^2 + y^2), dx = -dz * y / (x^2 + y^2)
edges atan2_gradient(gradient_context& at) {
  auto y = at.input(0), x = at.input(1);
  auto scaled = at.output_gradient(0) / (build("Square", {x}) + build("Square", {y}));
  return {unbroadcast(scaled * x, y, x), unbroadcast(-(scaled * y), x, y)};
}

} // namespace

extern constexpr op_def sin{
    .name = "Sin",
    .doc = "Takes the sine of each element, an angle in radians.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = sin_gradient,
    .example = R"(
y = Sin(f32[0, 1.5707964, -1])
fetch y = f32[0, 1, -0.84147096]
)",
};

extern constexpr op_def cos{
    .name = "Cos",
    .doc = "Takes the cosine of each element, an angle in radians.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = cos_gradient,
    .example = R"(
y = Cos(f32[0, 3.1415927, -1])
fetch y = f32[1, -1, 0.5403023]
)",
};

extern constexpr op_def tan{
    .name = "Tan",
    .doc = "Takes the tangent of each element, an angle in radians.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = tan_gradient,
    .example = R"(
y = Tan(f32[0, 1, -0.5])
fetch y = f32[0, 1.5574077, -0.5463025]
)",
};

extern constexpr op_def asin{
    .name = "Asin",
    .doc = "Takes the inverse sine of each element, in radians.\n\nIt is NaN for real numbers "
           "beyond [-1, 1].",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = asin_gradient,
    .example = R"(
y = Asin(f32[0, 0.5, -0.25])
fetch y = f32[0, 0.5235988, -0.25268027]
)",
};

extern constexpr op_def acos{
    .name = "Acos",
    .doc = "Takes the inverse cosine of each element, in radians.\n\nIt is NaN for real numbers "
           "beyond [-1, 1].",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = acos_gradient,
    .example = R"(
y = Acos(f32[0, 0.5, -0.25])
fetch y = f32[1.5707964, 1.0471976, 1.8234766]
)",
};

extern constexpr op_def atan{
    .name = "Atan",
    .doc = "Takes the inverse tangent of each element, in radians.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = atan_gradient,
    .example = R"(
y = Atan(f32[0, 1, -2])
fetch y = f32[0, 0.7853982, -1.1071488]
)",
};

extern constexpr op_def atan2{
    .name = "Atan2",
    .doc = "Takes the angle of the point (x, y) with the axis of x, in radians, element by "
           "element.\n\nBroadcasts by NumPy's rules.",
    .inputs = {{"y", "T"}, {"x", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", floating}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = atan2_gradient,
    .example = R"(
z = Atan2(f32[1, -1, 0], f32[1, 1, -1])
fetch z = f32[0.7853982, -0.7853982, 3.1415927]
)",
};

} // namespace troupe::ops::trigonometric_op

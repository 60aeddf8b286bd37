// Powers and roots.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/elementwise/shared/output_gradients.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/simplify.hpp"

namespace troupe::ops::power_op {
namespace {

// dx = y * x^(y - 1), dy = z * log(x). The logarithm counts as 0 where it is undefined, because z
// is 0 there, too, or the derivative does not exist.
edges pow_gradient(gradient_context& at) {
  auto x = at.input(0), y = at.input(1), dz = at.output_gradient(0);
  auto dx = y * build("Pow", {x, y - scalar_like(y, 1)});
  auto zero = scalar_like(x, 0);
  auto defined = build(complex_types.contains(x.type()) ? "NotEqual" : "Greater", {x, zero});
  auto zeros = zeros_of(x);
  auto inside = build("Select", {defined, x, build("OnesLike", {x})});
  auto logarithm = build("Select", {defined, build("Log", {inside}), zeros});
  return {unbroadcast(dz * conjugate(dx), x, y),
          unbroadcast(dz * conjugate(at.output(0) * logarithm), y, x)};
}

// x^1 = x, x^2 = Square(x)
edge simplify(simplify_context& at) {
  if (!at.keeps_shape_of(0))
    return {};
  if (at.is_all(1, 1))
    return at.input(0);
  return at.is_all(1, 2) ? at.op("Square", {at.input(0)}) : edge{};
}

edges square_gradient(gradient_context& at) {
  auto x = at.input(0), dy = at.output_gradient(0);
  return {dy * (scalar_like(x, 2) * conjugate(x))};
}

edges squared_difference_gradient(gradient_context& at) {
  auto x = at.input(0), y = at.input(1), dz = at.output_gradient(0);
  auto dx = scalar_like(dz, 2) * (dz * (x - y));
  return {unbroadcast(dx, x, y), unbroadcast(-dx, y, x)};
}

edges sqrt_gradient(gradient_context& at) {
  auto y = at.output(0), dy = at.output_gradient(0);
  return {dy * scalar_like(y, 0.5) / conjugate(y)};
}

// -dz * z / y
edges sqrt_grad_gradient(gradient_context& at) {
  auto y = conjugate(at.input(0)), dz = conjugate(at.output_gradient(0));
  return paired_gradients(at, -(dz * at.output(0) / y));
}

// dx = dy * -y^3 / 2
edges rsqrt_gradient(gradient_context& at) {
  auto y = conjugate(at.output(0)), dy = at.output_gradient(0);
  return {dy * scalar_like(y, -0.5) * (y * y * y)};
}

// -3/2 dz * dy * y^2
edges rsqrt_grad_gradient(gradient_context& at) {
  auto y = conjugate(at.input(0)), dy = at.input(1), dz = conjugate(at.output_gradient(0));
  return paired_gradients(at, scalar_like(y, -1.5) * dz * dy * build("Square", {y}));
}

} // namespace

extern constexpr op_def pow{
    .name = "Pow",
    .doc = "Raises x to the power y, element by element.\n\nBroadcasts by NumPy's rules. Whole "
           "numbers wrap around, and a negative power of them fails.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", floating | complex_types | signed_integers}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = pow_gradient,
    .simplify = simplify,
    .example = R"(
z = Pow(f32[1, 2, 3], f32(2))
n = Pow(i64[2, 3], i64[10, 3])
fetch z = f32[1, 4, 9]
fetch n = i64[1024, 27]
)",
};

extern constexpr op_def square{
    .name = "Square",
    .doc = "Multiplies each element by itself.\n\nWhole numbers wrap around.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", numbers}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = square_gradient,
    .example = R"(
y = Square(f32[1, -2, 3])
fetch y = f32[1, 4, 9]
)",
};

extern constexpr op_def squared_difference{
    .name = "SquaredDifference",
    .doc = "Squares the difference of x and y, element by element.\n\nBroadcasts by NumPy's rules. "
           "For complex numbers it is the difference times its conjugate.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", floating | complex_types | index_types}},
    .effects =
        effect::forwardable | effect::commutative | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = squared_difference_gradient,
    .example = R"(
z = SquaredDifference(f32[1, 2, 3], f32[3, 3, 3])
fetch z = f32[4, 1, 0]
)",
};

extern constexpr op_def sqrt{
    .name = "Sqrt",
    .doc = "Takes the square root of each element.\n\nIt is NaN for negative numbers.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = sqrt_gradient,
    .example = R"(
y = Sqrt(f32[0, 4, 9])
fetch y = f32[0, 2, 3]
)",
};

extern constexpr op_def sqrt_grad{
    .name = "SqrtGrad",
    .doc = "Computes the gradient of Sqrt from its output y: dy / (2 y).\n\nIt is 0 where dy is, "
           "whatever y is. For complex numbers it takes the conjugate of y.",
    .inputs = {{"y", "T"}, {"dy", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer_paired,
    .gradient = sqrt_grad_gradient,
    .example = R"(
y = Placeholder dtype=f32 shape=[-1]
dy = Placeholder dtype=f32 shape=[-1]
z = SqrtGrad(y, dy)
feed y = f32[0.5, 2]
feed dy = f32[1, 2]
fetch z = f32[1, 0.5]
)",
};

extern constexpr op_def rsqrt{
    .name = "Rsqrt",
    .doc = "Takes the reciprocal of the square root of each element.\n\nIt is inf at 0 and NaN for "
           "negative numbers.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = rsqrt_gradient,
    .example = R"(
y = Rsqrt(f32[1, 4, 0])
fetch y = f32[1, 0.5, inf]
)",
};

extern constexpr op_def rsqrt_grad{
    .name = "RsqrtGrad",
    .doc = "Computes the gradient of Rsqrt from its output y: -dy * y^3 / 2.\n\nIt is 0 where dy "
           "is, whatever y is. For complex numbers it takes the conjugate of y.",
    .inputs = {{"y", "T"}, {"dy", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer_paired,
    .gradient = rsqrt_grad_gradient,
    .example = R"(
y = Placeholder dtype=f32 shape=[-1]
dy = Placeholder dtype=f32 shape=[-1]
z = RsqrtGrad(y, dy)
feed y = f32[0.5, 2]
feed dy = f32[8, 1]
fetch z = f32[-0.5, -4]
)",
};

} // namespace troupe::ops::power_op

// Quotients. The kinds of division differ in rounding and in division by zero.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/gradient_context.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/simplify.hpp"

namespace troupe::ops::division_op {
namespace {

// dx = dz / y, dy = -dz * z / y
edges div_gradient(gradient_context& at) {
  auto x = at.input(0), y = at.input(1), dz = at.output_gradient(0);
  auto dx = dz / conjugate(y);
  return {unbroadcast(dx, x, y), unbroadcast(-(dx * conjugate(at.output(0))), y, x)};
}

// x / 1 = x
edge simplify(simplify_context& at) {
  return at.is_all(1, 1) && at.keeps_shape_of(0) ? at.input(0) : edge{};
}

// dx = dz / y, dy = -dz * z / y
edges real_div_gradient(gradient_context& at) {
  auto x = at.input(0), y = at.input(1), dz = at.output_gradient(0);
  auto dx = dz / conjugate(y);
  return {unbroadcast(dx, x, y), unbroadcast(-(dx * conjugate(at.output(0))), y, x)};
}

edges div_no_nan_gradient(gradient_context& at) {
  auto x = at.input(0), y = at.input(1), dz = at.output_gradient(0);
  auto divided = [](edge a, edge b) { return build("DivNoNan", {a, conjugate(b)}); };
  return {unbroadcast(divided(dz, y), x, y),
          unbroadcast(-divided(dz * conjugate(at.output(0)), y), y, x)};
}

// The function is piecewise constant.
edges floor_div_gradient(gradient_context&) { return {edge{}, edge{}}; }

// The function is piecewise constant.
edges truncate_div_gradient(gradient_context&) { return {edge{}, edge{}}; }

} // namespace

extern constexpr op_def div{
    .name = "Div",
    .doc = "Divides x by y, element by element.\n\nBroadcasts by NumPy's rules. Quotients of whole "
           "numbers are rounded towards zero, and dividing them by zero fails.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", numbers}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = div_gradient,
    .simplify = simplify,
    .example = R"(
z = Div(f32[1, 2, 3], f32(2))
n = Div(i32[7, -7], i32(2))
fetch z = f32[0.5, 1, 1.5]
fetch n = i32[3, -3]
)",
};

extern constexpr op_def real_div{
    .name = "RealDiv",
    .doc = "Divides x by y, element by element, as Div does.\n\nBroadcasts by NumPy's rules.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", numbers}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = real_div_gradient,
    .simplify = simplify,
    .example = R"(
z = RealDiv(f64[1, 2], f64[4, 8])
fetch z = f64[0.25, 0.25]
)",
};

extern constexpr op_def div_no_nan{
    .name = "DivNoNan",
    .doc = "Divides x by y, element by element, and gives 0 where y is 0.\n\nBroadcasts by NumPy's "
           "rules.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = div_no_nan_gradient,
    .example = R"(
z = DivNoNan(f32[1, -2, 3], f32[2, 1, 0])
fetch z = f32[0.5, -2, 0]
)",
};

extern constexpr op_def floor_div{
    .name = "FloorDiv",
    .doc = "Divides x by y, element by element, and rounds down.\n\nBroadcasts by NumPy's rules. "
           "Dividing whole numbers by zero fails. The gradient is 0.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", real_numbers}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = floor_div_gradient,
    .example = R"(
z = FloorDiv(f32[7, -7, 6], f32(2))
n = FloorDiv(i32[7, -7], i32(2))
fetch z = f32[3, -4, 3]
fetch n = i32[3, -4]
)",
};

extern constexpr op_def truncate_div{
    .name = "TruncateDiv",
    .doc = "Divides x by y, element by element, and rounds towards zero.\n\nBroadcasts by NumPy's "
           "rules. Dividing whole numbers by zero fails. The gradient is 0.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", real_numbers}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = truncate_div_gradient,
    .example = R"(
z = TruncateDiv(f32[7, -7, 6], f32(2))
n = TruncateDiv(i32[7, -7], i32(2))
fetch z = f32[3, -3, 3]
fetch n = i32[3, -3]
)",
};

} // namespace troupe::ops::division_op

// Div: the quotient of each two elements.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/simplify.hpp"

namespace troupe::ops::div_op {
namespace {

// dx = dz / y, dy = -dz * z / y
edges gradient(gradient_context& at) {
  auto x = at.input(0), y = at.input(1), dz = at.output_gradient(0);
  auto dx = dz / conjugate(y);
  return {unbroadcast(dx, x, y), unbroadcast(-(dx * conjugate(at.output(0))), y, x)};
}

// x / 1 = x
edge simplify(simplify_context& at) {
  return at.is_all(1, 1) && at.keeps_shape_of(0) ? at.input(0) : edge{};
}

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
    .gradient = gradient,
    .simplify = simplify,
    .example = R"(
z = Div(f32[1, 2, 3], f32(2))
n = Div(i32[7, -7], i32(2))
fetch z = f32[0.5, 1, 1.5]
fetch n = i32[3, -3]
)",
};

} // namespace troupe::ops::div_op

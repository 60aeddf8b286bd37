// Pow: powers.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/simplify.hpp"

namespace troupe::ops::pow_op {
namespace {

// dx = y * x^(y - 1), dy = z * log(x); the logarithm counts as 0 where it is not defined, because
// there z is 0, too, or the derivative does not exist.
edges gradient(gradient_context& at) {
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
    .gradient = gradient,
    .simplify = simplify,
    .example = R"(
z = Pow(f32[1, 2, 3], f32(2))
n = Pow(i64[2, 3], i64[10, 3])
fetch z = f32[1, 4, 9]
fetch n = i64[1024, 27]
)",
};

} // namespace troupe::ops::pow_op

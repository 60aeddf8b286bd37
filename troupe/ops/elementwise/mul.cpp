// Mul: the product of each two elements.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/precision.hpp"
#include "troupe/runtime/graph/simplify.hpp"

namespace troupe::ops::mul_op {
namespace {

edges gradient(gradient_context& at) {
  auto x = at.input(0), y = at.input(1), dz = at.output_gradient(0);
  return {unbroadcast(dz * conjugate(y), x, y), unbroadcast(dz * conjugate(x), y, x)};
}

// x * 1 = x; x * 0 = 0 for whole numbers (a float may be infinite or no number); x * x = Square(x)
edge simplify(simplify_context& at) {
  constexpr auto whole = signed_integers | unsigned_integers;
  for (int i : {0, 1}) {
    if (at.is_all(1 - i, 1) && at.keeps_shape_of(i))
      return at.input(i);
    if (whole.contains(at.output_type()) && at.is_all(1 - i, 0) && at.keeps_shape_of(1 - i))
      return at.input(1 - i);
  }
  if (at.input(0) == at.input(1))
    return at.op("Square", {at.input(0)});
  return {};
}

} // namespace

extern constexpr op_def mul{
    .name = "Mul",
    .doc = "Multiplies x and y, element by element.\n\nBroadcasts by NumPy's rules. Whole numbers "
           "wrap around.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", numbers}},
    .effects = effect::forwardable | effect::commutative | effect::elementwise |
               effect::broadcasting | autocast_infer,
    .infer = infer::broadcast_inputs,
    .gradient = gradient,
    .simplify = simplify,
    .example = R"(
z = Mul(f32[1, 2, 3], f32(2))
fetch z = f32[2, 4, 6]
)",
};

} // namespace troupe::ops::mul_op

// RealDiv: the quotient of each two elements.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/simplify.hpp"

namespace troupe::ops::real_div_op {
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

extern constexpr op_def real_div{
    .name = "RealDiv",
    .doc = "Divides x by y, element by element, as Div does.\n\nBroadcasts by NumPy's rules.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", numbers}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = gradient,
    .simplify = simplify,
    .example = R"(
z = RealDiv(f64[1, 2], f64[4, 8])
fetch z = f64[0.25, 0.25]
)",
};

} // namespace troupe::ops::real_div_op

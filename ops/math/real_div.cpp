// RealDiv: the quotient of each two elements.
#include "troupe/ops/build.hpp"
#include "troupe/runtime/infer.hpp"

namespace troupe::ops {
namespace {

// dx = dz / y, dy = -dz * z / y
edges gradient(gradient_context& at) {
  auto x = at.input(0), y = at.input(1), dz = at.output_gradient(0);
  auto dx = dz / conjugate(y);
  return {unbroadcast(dx, x, y), unbroadcast(-(dx * conjugate(at.output(0))), y, x)};
}

} // namespace

extern constexpr op_def real_div{
    .name = "RealDiv",
    .doc = "Divides x by y, element by element, as Div does.\n\nBroadcasts by NumPy's rules.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", numbers}},
    .effects = effect::forwardable,
    .infer = infer::broadcast_inputs,
    .gradient = gradient,
    .example = R"(
z = RealDiv(f64[1, 2], f64[4, 8])
fetch z = f64[0.25, 0.25]
)",
};

} // namespace troupe::ops

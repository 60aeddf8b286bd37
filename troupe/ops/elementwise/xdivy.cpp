// Xdivy: the quotient of each two elements, zero where x is.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::xdivy_op {
namespace {

// dx = dz / y where x is not 0, dy = -dz * x / y^2
edges gradient(gradient_context& at) {
  auto x = at.input(0), y = conjugate(at.input(1)), dz = at.output_gradient(0);
  auto counts = cast_to(build("NotEqual", {x, scalar_like(x, 0)}), x.type());
  return {
      unbroadcast(dz * build("Xdivy", {counts, y}), x, at.input(1)),
      unbroadcast(-(dz * build("Xdivy", {conjugate(x), build("Square", {y})})), at.input(1), x)};
}

} // namespace

extern constexpr op_def xdivy{
    .name = "Xdivy",
    .doc = "Divides x by y, element by element, and gives 0 where x is 0, even where y is, "
           "too.\n\nBroadcasts by NumPy's rules.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = gradient,
    .example = R"(
z = Xdivy(f32[1, -2, 0], f32[2, 1, 0])
fetch z = f32[0.5, -2, 0]
)",
};

} // namespace troupe::ops::xdivy_op

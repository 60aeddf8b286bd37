// Xlogy: x times the logarithm of y, zero where x is.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::xlogy_op {
namespace {

// dx = dz * log(y) where x is not 0, dy = dz * x / y
edges gradient(gradient_context& at) {
  auto x = at.input(0), y = conjugate(at.input(1)), dz = at.output_gradient(0);
  auto counts = cast_to(build("NotEqual", {x, scalar_like(x, 0)}), x.type());
  return {unbroadcast(dz * build("Xlogy", {counts, y}), x, at.input(1)),
          unbroadcast(dz * build("Xdivy", {conjugate(x), y}), at.input(1), x)};
}

} // namespace

extern constexpr op_def xlogy{
    .name = "Xlogy",
    .doc = "Computes x * log(y), element by element, and gives 0 where x is 0, even where y is, "
           "too.\n\nBroadcasts by NumPy's rules.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = gradient,
    .example = R"(
z = Xlogy(f32[1, -2, 0], f32[2, 1, 0])
fetch z = f32[0.6931472, 0, 0]
)",
};

} // namespace troupe::ops::xlogy_op

// Angle: the angle of each element.
#include "troupe/ops/elementwise/shared/complex_parts.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::angle_op {
namespace {

// dx = dy * i / conj(x)
edges gradient(gradient_context& at) {
  auto x = at.input(0), dy = at.output_gradient(0);
  return {complex_like(x, zeros_of(dy), dy) / conjugate(x)};
}

} // namespace

extern constexpr op_def angle{
    .name = "Angle",
    .doc = "Takes the angle of each element with the positive real numbers, in radians.\n\nIt lies "
           "in (-pi, pi].",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "Tout"}},
    .attrs = {{"T", complex_types, dtype::c64},
              {"Tout", one_of(dtype::f32, dtype::f64), dtype::f32}},
    .effects = effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Angle(c64[[1, 1], [0, -1]])
fetch y = f32[0.7853982, -1.5707964]
)",
};

} // namespace troupe::ops::angle_op

// ComplexAbs: the absolute value of each complex number.
#include "troupe/ops/elementwise/shared/complex_parts.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::complex_abs_op {
namespace {

// dx = dy * x / |x|
edges gradient(gradient_context& at) {
  auto x = at.input(0), dy = at.output_gradient(0);
  return {complex_like(x, dy, zeros_of(dy)) * build("Sign", {x})};
}

} // namespace

extern constexpr op_def complex_abs{
    .name = "ComplexAbs",
    .doc = "Takes the absolute value of each complex number.\n\nThe gradient at 0 is 0.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "Tout"}},
    .attrs = {{"T", complex_types, dtype::c64},
              {"Tout", one_of(dtype::f32, dtype::f64), dtype::f32}},
    .effects = effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = ComplexAbs(c64[[3, 4], [0, -1]])
fetch y = f32[5, 1]
)",
};

} // namespace troupe::ops::complex_abs_op

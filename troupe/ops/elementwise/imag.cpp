// Imag: the imaginary part of each element.
#include "troupe/ops/elementwise/shared/complex_parts.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::imag_op {
namespace {

edges gradient(gradient_context& at) {
  auto dy = at.output_gradient(0);
  return {complex_like(at.input(0), zeros_of(dy), dy)};
}

} // namespace

extern constexpr op_def imag{
    .name = "Imag",
    .doc = "Takes the imaginary part of each element.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "Tout"}},
    .attrs = {{"T", complex_types, dtype::c64},
              {"Tout", one_of(dtype::f32, dtype::f64), dtype::f32}},
    .effects = effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Imag(c64[[1, 2], [0, -1]])
fetch y = f32[2, -1]
)",
};

} // namespace troupe::ops::imag_op

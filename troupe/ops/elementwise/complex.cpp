// Complex: complex numbers of two real ones each.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::complex_op {
namespace {

edges gradient(gradient_context& at) {
  auto real = at.input(0), imag = at.input(1), dz = at.output_gradient(0);
  auto part = [&](const char* op) { return build(op, {dz}, {{"Tout", real.type()}}); };
  return {unbroadcast(part("Real"), real, imag), unbroadcast(part("Imag"), imag, real)};
}

} // namespace

extern constexpr op_def complex{
    .name = "Complex",
    .doc =
        "Makes complex numbers of their real and imaginary parts.\n\nBroadcasts by NumPy's rules.",
    .inputs = {{"real", "T"}, {"imag", "T"}},
    .outputs = {{"out", "Tout"}},
    .attrs = {{"T", one_of(dtype::f32, dtype::f64), dtype::f32},
              {"Tout", complex_types, dtype::c64}},
    .effects = effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = gradient,
    .example = R"(
z = Complex(f32[1, 2], f32(-1))
fetch z = c64[[1, -1], [2, -1]]
)",
};

} // namespace troupe::ops::complex_op

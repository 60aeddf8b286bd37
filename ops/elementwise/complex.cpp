// Parts of complex numbers.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/simplify.hpp"

namespace troupe::ops::complex_op {
namespace {

// The complex number with these parts, of the type of x.
edge complex_like(edge x, edge real, edge imag) {
  return x ? build("Complex", {real, imag}, {{"Tout", x.type()}}) : edge{};
}

edges complex_gradient(gradient_context& at) {
  auto real = at.input(0), imag = at.input(1), dz = at.output_gradient(0);
  auto part = [&](const char* op) { return build(op, {dz}, {{"Tout", real.type()}}); };
  return {unbroadcast(part("Real"), real, imag), unbroadcast(part("Imag"), imag, real)};
}

edges real_gradient(gradient_context& at) {
  auto dy = at.output_gradient(0);
  return {complex_like(at.input(0), dy, zeros_of(dy))};
}

edges imag_gradient(gradient_context& at) {
  auto dy = at.output_gradient(0);
  return {complex_like(at.input(0), zeros_of(dy), dy)};
}

edges conj_gradient(gradient_context& at) { return {conjugate(at.output_gradient(0))}; }

edge simplify(simplify_context& at) {
  auto* inner = at.same_op_behind(0);
  return inner ? inner->inputs()[0] : edge{};
}

// dx = dy * i / conj(x)
edges angle_gradient(gradient_context& at) {
  auto x = at.input(0), dy = at.output_gradient(0);
  return {complex_like(x, zeros_of(dy), dy) / conjugate(x)};
}

// dx = dy * x / |x|
edges complex_abs_gradient(gradient_context& at) {
  auto x = at.input(0), dy = at.output_gradient(0);
  return {complex_like(x, dy, zeros_of(dy)) * build("Sign", {x})};
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
    .gradient = complex_gradient,
    .example = R"(
z = Complex(f32[1, 2], f32(-1))
fetch z = c64[[1, -1], [2, -1]]
)",
};

extern constexpr op_def real{
    .name = "Real",
    .doc = "Takes the real part of each element.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "Tout"}},
    .attrs = {{"T", complex_types, dtype::c64},
              {"Tout", one_of(dtype::f32, dtype::f64), dtype::f32}},
    .effects = effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = real_gradient,
    .example = R"(
y = Real(c64[[1, 2], [0, -1]])
fetch y = f32[1, 0]
)",
};

extern constexpr op_def imag{
    .name = "Imag",
    .doc = "Takes the imaginary part of each element.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "Tout"}},
    .attrs = {{"T", complex_types, dtype::c64},
              {"Tout", one_of(dtype::f32, dtype::f64), dtype::f32}},
    .effects = effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = imag_gradient,
    .example = R"(
y = Imag(c64[[1, 2], [0, -1]])
fetch y = f32[2, -1]
)",
};

extern constexpr op_def conj{
    .name = "Conj",
    .doc = "Negates the imaginary part of each element.\n\nReal numbers have no Conj: they are "
           "their own conjugates.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = conj_gradient,
    .simplify = simplify,
    .example = R"(
y = Conj(c64[[1, 2], [0, -1]])
fetch y = c64[[1, -2], [0, 1]]
)",
};

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
    .gradient = angle_gradient,
    .example = R"(
y = Angle(c64[[1, 1], [0, -1]])
fetch y = f32[0.7853982, -1.5707964]
)",
};

extern constexpr op_def complex_abs{
    .name = "ComplexAbs",
    .doc = "Takes the absolute value of each complex number.\n\nThe gradient at 0 is 0.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "Tout"}},
    .attrs = {{"T", complex_types, dtype::c64},
              {"Tout", one_of(dtype::f32, dtype::f64), dtype::f32}},
    .effects = effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = complex_abs_gradient,
    .example = R"(
y = ComplexAbs(c64[[3, 4], [0, -1]])
fetch y = f32[5, 1]
)",
};

} // namespace troupe::ops::complex_op

// Exponential functions and logarithms.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::exponential_op {
namespace {

edges exp_gradient(gradient_context& at) {
  return {at.output_gradient(0) * conjugate(at.output(0))};
}

// dx = dy * exp(x), which is y + 1
edges expm1_gradient(gradient_context& at) {
  auto y = conjugate(at.output(0)), dy = at.output_gradient(0);
  return {dy * (y + scalar_like(y, 1))};
}

edges log_gradient(gradient_context& at) {
  return {at.output_gradient(0) / conjugate(at.input(0))};
}

edges log1p_gradient(gradient_context& at) {
  auto x = conjugate(at.input(0)), dy = at.output_gradient(0);
  return {dy / (scalar_like(x, 1) + x)};
}

// dx = dz / y where x is not 0, dy = -dz * x / y^2
edges xdivy_gradient(gradient_context& at) {
  auto x = at.input(0), y = conjugate(at.input(1)), dz = at.output_gradient(0);
  auto counts = cast_to(build("NotEqual", {x, scalar_like(x, 0)}), x.type());
  return {
      unbroadcast(dz * build("Xdivy", {counts, y}), x, at.input(1)),
      unbroadcast(-(dz * build("Xdivy", {conjugate(x), build("Square", {y})})), at.input(1), x)};
}

// dx = dz * log(y) where x is not 0, dy = dz * x / y
edges xlogy_gradient(gradient_context& at) {
  auto x = at.input(0), y = conjugate(at.input(1)), dz = at.output_gradient(0);
  auto counts = cast_to(build("NotEqual", {x, scalar_like(x, 0)}), x.type());
  return {unbroadcast(dz * build("Xlogy", {counts, y}), x, at.input(1)),
          unbroadcast(dz * build("Xdivy", {conjugate(x), y}), at.input(1), x)};
}

} // namespace

extern constexpr op_def exp{
    .name = "Exp",
    .doc = "Raises e to the power of each element.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = exp_gradient,
    .example = R"(
y = Exp(f32[0, 1, -1])
fetch y = f32[1, 2.7182817, 0.36787945]
)",
};

extern constexpr op_def expm1{
    .name = "Expm1",
    .doc = "Computes exp(x) - 1 of each element, exact also where x is near 0.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = expm1_gradient,
    .example = R"(
y = Expm1(f32[0, 1, 1e-10])
fetch y = f32[0, 1.7182819, 1e-10]
)",
};

extern constexpr op_def log{
    .name = "Log",
    .doc = "Takes the natural logarithm of each element.\n\nIt is -inf at 0 and NaN for negative "
           "numbers.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = log_gradient,
    .example = R"(
y = Log(f32[1, 2.7182817, 0])
fetch y = f32[0, 1, -inf]
)",
};

extern constexpr op_def log1p{
    .name = "Log1p",
    .doc = "Computes log(1 + x) of each element, exact also where x is near 0.\n\nIt is -inf at -1 "
           "and NaN below.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = log1p_gradient,
    .example = R"(
y = Log1p(f32[0, 1.7182817, 1e-10])
fetch y = f32[0, 1, 1e-10]
)",
};

extern constexpr op_def xdivy{
    .name = "Xdivy",
    .doc = "Divides x by y, element by element, and gives 0 where x is 0, even where y is, "
           "too.\n\nBroadcasts by NumPy's rules.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = xdivy_gradient,
    .example = R"(
z = Xdivy(f32[1, -2, 0], f32[2, 1, 0])
fetch z = f32[0.5, -2, 0]
)",
};

extern constexpr op_def xlogy{
    .name = "Xlogy",
    .doc = "Computes x * log(y), element by element, and gives 0 where x is 0, even where y is, "
           "too.\n\nBroadcasts by NumPy's rules.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = xlogy_gradient,
    .example = R"(
z = Xlogy(f32[1, -2, 0], f32[2, 1, 0])
fetch z = f32[0.6931472, 0, 0]
)",
};

} // namespace troupe::ops::exponential_op

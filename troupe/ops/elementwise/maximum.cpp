// Maximum: the larger one of each two elements.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::maximum_op {
namespace {

edges gradient(gradient_context& at) {
  auto x = at.input(0), y = at.input(1), dz = at.output_gradient(0);
  auto from_x = build("GreaterEqual", {x, y}), zeros = zeros_of(dz);
  return {unbroadcast(build("Select", {from_x, dz, zeros}), x, y),
          unbroadcast(build("Select", {from_x, zeros, dz}), y, x)};
}

} // namespace

extern constexpr op_def maximum{
    .name = "Maximum",
    .doc = "Takes the larger one of x and y, element by element.\n\nBroadcasts by NumPy's rules. "
           "Where one is NaN, so is the result. The gradient goes to x where both are equal.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", real_numbers}},
    .effects =
        effect::forwardable | effect::commutative | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = gradient,
    .example = R"(
z = Maximum(f32[-1, 0, 5], f32(0))
fetch z = f32[0, 0, 5]
)",
};

} // namespace troupe::ops::maximum_op

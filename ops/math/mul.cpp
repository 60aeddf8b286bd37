// Mul: the product of each two elements.
#include "troupe/ops/build.hpp"
#include "troupe/runtime/infer.hpp"

namespace troupe::ops {
namespace {

edges gradient(gradient_context& at) {
  auto x = at.input(0), y = at.input(1), dz = at.output_gradient(0);
  return {unbroadcast(dz * conjugate(y), x, y), unbroadcast(dz * conjugate(x), y, x)};
}

} // namespace

extern constexpr op_def mul{
    .name = "Mul",
    .doc = "Multiplies x and y, element by element.\n\nBroadcasts by NumPy's rules. Whole numbers "
           "wrap around.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", numbers}},
    .effects = effect::forwardable,
    .infer = infer::broadcast_inputs,
    .gradient = gradient,
    .example = R"(
z = Mul(f32[1, 2, 3], f32(2))
fetch z = f32[2, 4, 6]
)",
};

} // namespace troupe::ops

// Remainders. They differ in the rounding of the quotient.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::remainder_op {
namespace {

// z = x - q y, where q is the rounded quotient: dx = dz, dy = -dz * q
edges remainder_gradient(gradient_context& at, const char* quotient) {
  auto x = at.input(0), y = at.input(1), dz = at.output_gradient(0);
  return {unbroadcast(dz, x, y), unbroadcast(-(dz * build(quotient, {x, y})), y, x)};
}

edges mod_gradient(gradient_context& at) { return remainder_gradient(at, "TruncateDiv"); }

edges truncate_mod_gradient(gradient_context& at) { return remainder_gradient(at, "TruncateDiv"); }

edges floor_mod_gradient(gradient_context& at) { return remainder_gradient(at, "FloorDiv"); }

} // namespace

extern constexpr op_def mod{
    .name = "Mod",
    .doc = "Takes the remainder of dividing x by y, element by element, with the sign of "
           "x.\n\nBroadcasts by NumPy's rules. Dividing whole numbers by zero fails. It is what "
           "TruncateMod is.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", real_numbers}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = mod_gradient,
    .example = R"(
z = Mod(f32[7, -7, 6.5], f32(3))
n = Mod(i32[7, -7], i32(3))
fetch z = f32[1, -1, 0.5]
fetch n = i32[1, -1]
)",
};

extern constexpr op_def truncate_mod{
    .name = "TruncateMod",
    .doc = "Takes the remainder of dividing x by y, element by element, with the sign of "
           "x.\n\nBroadcasts by NumPy's rules. Dividing whole numbers by zero fails.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", real_numbers}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = truncate_mod_gradient,
    .example = R"(
z = TruncateMod(f32[7, -7, 6.5], f32(3))
n = TruncateMod(i32[7, -7], i32(3))
fetch z = f32[1, -1, 0.5]
fetch n = i32[1, -1]
)",
};

extern constexpr op_def floor_mod{
    .name = "FloorMod",
    .doc = "Takes the remainder of dividing x by y and rounding down, element by element: it has "
           "the sign of y.\n\nBroadcasts by NumPy's rules. Dividing whole numbers by zero fails.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", real_numbers}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = floor_mod_gradient,
    .example = R"(
z = FloorMod(f32[7, -7, 6.5], f32(3))
n = FloorMod(i32[7, -7], i32(3))
fetch z = f32[1, 2, 0.5]
fetch n = i32[1, 2]
)",
};

} // namespace troupe::ops::remainder_op

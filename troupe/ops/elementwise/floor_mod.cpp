// FloorMod: the remainder of each two elements.
#include "troupe/ops/elementwise/shared/remainder.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::floor_mod_op {
namespace {

edges gradient(gradient_context& at) { return remainder_gradient(at, "FloorDiv"); }

} // namespace

extern constexpr op_def floor_mod{
    .name = "FloorMod",
    .doc = "Takes the remainder of dividing x by y and rounding down, element by element: it has "
           "the sign of y.\n\nBroadcasts by NumPy's rules. Dividing whole numbers by zero fails.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", real_numbers}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = gradient,
    .example = R"(
z = FloorMod(f32[7, -7, 6.5], f32(3))
n = FloorMod(i32[7, -7], i32(3))
fetch z = f32[1, 2, 0.5]
fetch n = i32[1, 2]
)",
};

} // namespace troupe::ops::floor_mod_op

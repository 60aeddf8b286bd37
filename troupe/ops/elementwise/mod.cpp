// Mod: the remainder of each two elements.
#include "troupe/ops/elementwise/shared/remainder.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::mod_op {
namespace {

edges gradient(gradient_context& at) { return remainder_gradient(at, "TruncateDiv"); }

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
    .gradient = gradient,
    .example = R"(
z = Mod(f32[7, -7, 6.5], f32(3))
n = Mod(i32[7, -7], i32(3))
fetch z = f32[1, -1, 0.5]
fetch n = i32[1, -1]
)",
};

} // namespace troupe::ops::mod_op

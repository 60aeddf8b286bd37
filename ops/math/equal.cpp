// Equal: where x is equal to y.
#include "troupe/ops/build.hpp"
#include "troupe/runtime/infer.hpp"

namespace troupe::ops {
extern constexpr op_def equal{
    .name = "Equal",
    .doc = "Says where x is equal to y.\n\nBroadcasts by NumPy's rules. NaN differs from "
           "everything and is neither greater nor less.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "bool"}},
    .attrs = {{"T", any_type}},
    .effects =
        effect::forwardable | effect::commutative | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .no_gradient = "truth values have no gradient",
    .example = R"(
z = Equal(f32[1, 2, 3], f32(2))
fetch z = bool[false, true, false]
)",
};

} // namespace troupe::ops

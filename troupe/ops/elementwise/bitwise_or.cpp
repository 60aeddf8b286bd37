// BitwiseOr: the bits that x or y or both have.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::bitwise_or_op {

extern constexpr op_def bitwise_or{
    .name = "BitwiseOr",
    .doc = "Sets the bits that are set in x or in y or in both.\n\nBroadcasts by NumPy's rules.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", integers}},
    .effects =
        effect::forwardable | effect::commutative | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .no_gradient = "bits have no gradient",
    .example = R"(
z = BitwiseOr(i32[6, 5], i32(3))
fetch z = i32[7, 7]
)",
};

} // namespace troupe::ops::bitwise_or_op

// BitwiseXor: the bits that one of x and y has.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::bitwise_xor_op {

extern constexpr op_def bitwise_xor{
    .name = "BitwiseXor",
    .doc = "Sets the bits that are set in exactly one of x and y.\n\nBroadcasts by NumPy's rules.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", integers}},
    .effects =
        effect::forwardable | effect::commutative | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .no_gradient = "bits have no gradient",
    .example = R"(
z = BitwiseXor(i32[6, 5], i32(3))
fetch z = i32[5, 6]
)",
};

} // namespace troupe::ops::bitwise_xor_op

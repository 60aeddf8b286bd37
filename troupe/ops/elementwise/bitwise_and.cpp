// BitwiseAnd: the bits that both x and y have.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::bitwise_and_op {

extern constexpr op_def bitwise_and{
    .name = "BitwiseAnd",
    .doc = "Sets the bits that are set in both x and y.\n\nBroadcasts by NumPy's rules.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", integers}},
    .effects =
        effect::forwardable | effect::commutative | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .no_gradient = "bits have no gradient",
    .example = R"(
z = BitwiseAnd(i32[6, 5], i32(3))
fetch z = i32[2, 1]
)",
};

} // namespace troupe::ops::bitwise_and_op

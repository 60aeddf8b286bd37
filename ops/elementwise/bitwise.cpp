// Integers as sequences of bits.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::bitwise_op {

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

extern constexpr op_def invert{
    .name = "Invert",
    .doc = "Flips all bits of each element.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", integers}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .no_gradient = "bits have no gradient",
    .example = R"(
y = Invert(i32[0, 5, -1])
fetch y = i32[-1, -6, 0]
)",
};

extern constexpr op_def left_shift{
    .name = "LeftShift",
    .doc = "Shifts the bits of x up by y places, and zeros in. A negative y counts as 0; one that "
           "is not less than the number of bits, as the greatest that is.\n\nBroadcasts by NumPy's "
           "rules.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", integers}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .no_gradient = "bits have no gradient",
    .example = R"(
z = LeftShift(i32[1, 3, 5], i32[4, -1, 1])
fetch z = i32[16, 3, 10]
)",
};

extern constexpr op_def right_shift{
    .name = "RightShift",
    .doc = "Shifts the bits of x down by y places. A negative y counts as 0; one that is not less "
           "than the number of bits, as the greatest that is. Negative numbers stay "
           "negative.\n\nBroadcasts by NumPy's rules.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", integers}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .no_gradient = "bits have no gradient",
    .example = R"(
z = RightShift(i32[16, 3, -5], i32[4, -1, 1])
fetch z = i32[1, 3, -3]
)",
};

extern constexpr op_def population_count{
    .name = "PopulationCount",
    .doc = "Counts the bits that are set in each element.\n\nNegative numbers count as their two's "
           "complement.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "u8"}},
    .attrs = {{"T", integers}},
    .effects = effect::elementwise | effect::forwardable,
    .infer = infer::same_as_input,
    .no_gradient = "bits have no gradient",
    .example = R"(
y = PopulationCount(i32[0, 7, -1])
fetch y = u8[0, 3, 32]
)",
};

} // namespace troupe::ops::bitwise_op

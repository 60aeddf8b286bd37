// RightShift: the bits of x, y places down.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::right_shift_op {

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

} // namespace troupe::ops::right_shift_op

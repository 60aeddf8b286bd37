// LeftShift: the bits of x, y places up.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::left_shift_op {

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

} // namespace troupe::ops::left_shift_op

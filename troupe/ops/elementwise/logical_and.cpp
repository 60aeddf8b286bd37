// LogicalAnd: where both x and y are true.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::logical_and_op {

extern constexpr op_def logical_and{
    .name = "LogicalAnd",
    .doc = "Says where both x and y are true.\n\nBroadcasts by NumPy's rules.",
    .inputs = {{"x", "bool"}, {"y", "bool"}},
    .outputs = {{"z", "bool"}},
    .effects =
        effect::forwardable | effect::commutative | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .no_gradient = "truth values have no gradient",
    .example = R"(
z = LogicalAnd(bool[true, true, false, false], bool[true, false, true, false])
fetch z = bool[true, false, false, false]
)",
};

} // namespace troupe::ops::logical_and_op

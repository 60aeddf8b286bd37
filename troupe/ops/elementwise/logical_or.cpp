// LogicalOr: where x or y or both are true.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::logical_or_op {

extern constexpr op_def logical_or{
    .name = "LogicalOr",
    .doc = "Says where x or y or both are true.\n\nBroadcasts by NumPy's rules.",
    .inputs = {{"x", "bool"}, {"y", "bool"}},
    .outputs = {{"z", "bool"}},
    .effects =
        effect::forwardable | effect::commutative | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .no_gradient = "truth values have no gradient",
    .example = R"(
z = LogicalOr(bool[true, true, false, false], bool[true, false, true, false])
fetch z = bool[true, true, true, false]
)",
};

} // namespace troupe::ops::logical_or_op

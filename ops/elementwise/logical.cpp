// Logic of truth values.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::logical_op {

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

extern constexpr op_def logical_not{
    .name = "LogicalNot",
    .doc = "Says where x is false.",
    .inputs = {{"x", "bool"}},
    .outputs = {{"y", "bool"}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .no_gradient = "truth values have no gradient",
    .example = R"(
y = LogicalNot(bool[true, false])
fetch y = bool[false, true]
)",
};

} // namespace troupe::ops::logical_op

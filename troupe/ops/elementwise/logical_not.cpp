// LogicalNot: where x is false.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::logical_not_op {

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

} // namespace troupe::ops::logical_not_op

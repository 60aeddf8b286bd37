// GreaterEqual: where x is greater than y or equal to it.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::greater_equal_op {

extern constexpr op_def greater_equal{
    .name = "GreaterEqual",
    .doc = "Says where x is greater than y or equal to it.\n\nBroadcasts by NumPy's rules. NaN "
           "differs from everything and is neither greater nor less.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "bool"}},
    .attrs = {{"T", real_numbers}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .no_gradient = "truth values have no gradient",
    .example = R"(
z = GreaterEqual(f32[1, 2, 3], f32(2))
fetch z = bool[false, true, true]
)",
};

} // namespace troupe::ops::greater_equal_op

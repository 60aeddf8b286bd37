// Greater: where x is greater than y.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::greater_op {

extern constexpr op_def greater{
    .name = "Greater",
    .doc = "Says where x is greater than y.\n\nBroadcasts by NumPy's rules. NaN differs from "
           "everything and is neither greater nor less.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "bool"}},
    .attrs = {{"T", real_numbers}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .no_gradient = "truth values have no gradient",
    .example = R"(
z = Greater(f32[1, 2, 3], f32(2))
fetch z = bool[false, false, true]
)",
};

} // namespace troupe::ops::greater_op

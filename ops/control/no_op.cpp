// NoOp: a name for a group of effects.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::no_op_op {

extern constexpr op_def no_op{
    .name = "NoOp",
    .doc = "Does nothing, after its control inputs.",
    .infer = infer::nothing,
    .no_gradient = "it has no outputs",
    .example = R"(
v = VariableV2 dtype=f32 shape=[]
init = Assign(v, f32(2))
ready = NoOp(^init)
target ready
run
fetch v = f32(2)
)",
};

} // namespace troupe::ops::no_op_op

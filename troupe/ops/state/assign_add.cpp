// AssignAdd: counters and running sums.
#include "troupe/ops/state/shared/update.hpp"

namespace troupe::ops::assign_add_op {

extern constexpr op_def assign_add{
    .name = "AssignAdd",
    .doc = "Adds a value of the same shape to a variable, in place.\n\n"
           "Updates of one variable exclude each other; with use_locking=false they race, as is "
           "TensorFlow's default, and concurrent updates may be lost in part.",
    .inputs = {ref("ref", "T"), {"value", "T"}},
    .outputs = {ref("output_ref", "T")},
    .attrs = {{"T", numbers}, {"use_locking", true}},
    .effects = effect::stateful,
    .infer = infer_update,
    .no_gradient = "state does not carry gradients",
    .example = R"(
v = VariableV2 dtype=f32 shape=[2]
init = Assign(v, f32[10, 20])
more = AssignAdd(v, f32[1, 2])
target init
run
fetch more = f32[11, 22]
run
target more
run
fetch v = f32[12, 24]
)",
};

} // namespace troupe::ops::assign_add_op

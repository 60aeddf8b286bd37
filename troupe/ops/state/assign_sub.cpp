// AssignSub: the update of a hand-written optimizer.
#include "troupe/ops/state/shared/update.hpp"

namespace troupe::ops::assign_sub_op {

extern constexpr op_def assign_sub{
    .name = "AssignSub",
    .doc = "Subtracts a value of the same shape from a variable, in place.\n\n"
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
more = AssignSub(v, f32[1, 2])
target init
run
fetch more = f32[9, 18]
run
target more
run
fetch v = f32[8, 16]
)",
};

} // namespace troupe::ops::assign_sub_op

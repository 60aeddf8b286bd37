// DisableCopyOnRead, which TensorFlow runs before it saves a variable.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::disable_copy_on_read_op {

extern constexpr op_def disable_copy_on_read{
    .name = "DisableCopyOnRead",
    .doc = "Does nothing.\n\n"
           "In TensorFlow it ends a mode of a variable in which reads copy its value. Here they "
           "share it; updates copy it while a reader has it.",
    .inputs = {handle("resource", "")},
    .effects = effect::stateful | effect::reads_shapes_only,
    .infer = infer::nothing,
    .no_gradient = "it has no outputs",
    .example = R"(
v = VarHandleOp dtype=f32 shape=[]
init = AssignVariableOp(v, f32(1))
off = DisableCopyOnRead(v)
read = ReadVariableOp(v, ^off)
target init
run
fetch read = f32(1)
)",
};

} // namespace troupe::ops::disable_copy_on_read_op

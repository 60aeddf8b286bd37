// IsVariableInitialized: lets a program find out what it still has to initialise.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::is_variable_initialized_op {

extern constexpr op_def is_variable_initialized{
    .name = "IsVariableInitialized",
    .doc = "Says whether a variable has been assigned.",
    .inputs = {ref("ref", "dtype")},
    .outputs = {{"is_initialized", "bool"}},
    .attrs = {{"dtype", any_type}},
    .effects = effect::stateful | effect::of_shape,
    .infer = infer::scalar,
    .no_gradient = "its output is a truth value",
    .example = R"(
v = VariableV2 dtype=f32 shape=[]
init = Assign(v, f32(1))
ready = IsVariableInitialized(v)
fetch ready = bool(false)
run
target init
run
fetch ready = bool(true)
)",
};

} // namespace troupe::ops::is_variable_initialized_op

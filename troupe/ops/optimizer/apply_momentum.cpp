// ApplyMomentum: gradient descent that keeps its direction.
#include "troupe/ops/optimizer/shared/training.hpp"

namespace troupe::ops::apply_momentum_op {
namespace {

constexpr port_list inputs{
    ref("var", "T"), ref("accum", "T"), {"lr", "T"}, {"grad", "T"}, {"momentum", "T"}};

} // namespace

extern constexpr op_def apply_momentum{
    .name = "ApplyMomentum",
    .doc = "Steps a variable against its gradient, with momentum.\n\naccum = accum * momentum "
           "+ grad, then var -= lr * accum; with use_nesterov var -= lr * (grad + momentum * "
           "accum). Updates that share variables exclude each other; with use_locking=false "
           "they race, as is TensorFlow's default, and concurrent updates may be lost in part.",
    .inputs = inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating}, {"use_locking", true}, {"use_nesterov", false}},
    .effects = effect::stateful,
    .infer = infer_training<roles_of(inputs)>,
    .no_gradient = "state does not carry gradients",
    .example = R"(
var = VariableV2 dtype=f32 shape=[2]
accum = VariableV2 dtype=f32 shape=[2]
start_var = Assign(var, f32{2}[1])
start_accum = Assign(accum, f32{2}[0.5])
step = ApplyMomentum(var, accum, f32(0.1), f32[1, -2], f32(0.9))
target start_var
target start_accum
run
fetch step = f32[0.855, 1.155]
)",
};

} // namespace troupe::ops::apply_momentum_op

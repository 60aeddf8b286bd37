// ApplyAddSign: larger steps where the gradient keeps its sign.
#include "troupe/ops/optimizer/shared/training.hpp"

namespace troupe::ops::apply_add_sign_op {
namespace {

constexpr port_list inputs{ref("var", "T"),     ref("m", "T"), {"lr", "T"},  {"alpha", "T"},
                           {"sign_decay", "T"}, {"beta", "T"}, {"grad", "T"}};

} // namespace

extern constexpr op_def apply_add_sign{
    .name = "ApplyAddSign",
    .doc = "Steps a variable by the AddSign algorithm.\n\nm = beta * m + (1 - beta) * grad; "
           "var -= lr * (alpha + sign_decay * sign(grad) * sign(m)) * grad. Updates that share "
           "variables exclude each other; with use_locking=false they race, as is TensorFlow's "
           "default, and concurrent updates may be lost in part.",
    .inputs = inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating}, {"use_locking", true}},
    .effects = effect::stateful,
    .infer = infer_training<roles_of(inputs)>,
    .no_gradient = "state does not carry gradients",
    .example = R"(
var = VariableV2 dtype=f32 shape=[2]
m = VariableV2 dtype=f32 shape=[2]
start_var = Assign(var, f32{2}[1])
start_m = Assign(m, f32{2}[0.5])
step = ApplyAddSign(var, m, f32(0.1), f32(0.1), f32(0.9), f32(0.9), f32[1, -2])
target start_var
target start_m
run
fetch step = f32[0.9, 0.84]
)",
};

} // namespace troupe::ops::apply_add_sign_op

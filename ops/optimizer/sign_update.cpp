// AddSign and PowerSign: steps that depend on whether gradient and momentum agree.
#include "troupe/ops/optimizer/shared/training.hpp"

namespace troupe::ops::sign_update_op {
namespace {

constexpr port_list apply_add_sign_inputs{ref("var", "T"), ref("m", "T"),       {"lr", "T"},
                                          {"alpha", "T"},  {"sign_decay", "T"}, {"beta", "T"},
                                          {"grad", "T"}};

constexpr port_list apply_power_sign_inputs{ref("var", "T"),  ref("m", "T"),       {"lr", "T"},
                                            {"logbase", "T"}, {"sign_decay", "T"}, {"beta", "T"},
                                            {"grad", "T"}};

} // namespace

extern constexpr op_def apply_add_sign{
    .name = "ApplyAddSign",
    .doc = "Steps a variable by the AddSign algorithm.\n\nm = beta * m + (1 - beta) * grad; "
           "var -= lr * (alpha + sign_decay * sign(grad) * sign(m)) * grad. Updates that share "
           "variables exclude each other; with use_locking=false they race, as is TensorFlow's "
           "default, and concurrent updates may be lost in part.",
    .inputs = apply_add_sign_inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating}, {"use_locking", true}},
    .effects = effect::stateful,
    .by_handle = {.name = "ResourceApplyAddSign"},
    .infer = infer_training<roles_of(apply_add_sign_inputs)>,
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

extern constexpr op_def apply_power_sign{
    .name = "ApplyPowerSign",
    .doc = "Steps a variable by the PowerSign algorithm.\n\nm = beta * m + (1 - beta) * grad; "
           "var -= lr * exp(logbase * sign_decay * sign(grad) * sign(m)) * grad. Updates that "
           "share variables exclude each other; with use_locking=false they race, as is "
           "TensorFlow's default, and concurrent updates may be lost in part.",
    .inputs = apply_power_sign_inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating}, {"use_locking", true}},
    .effects = effect::stateful,
    .by_handle = {.name = "ResourceApplyPowerSign"},
    .infer = infer_training<roles_of(apply_power_sign_inputs)>,
    .no_gradient = "state does not carry gradients",
    .example = R"(
var = VariableV2 dtype=f32 shape=[2]
m = VariableV2 dtype=f32 shape=[2]
start_var = Assign(var, f32{2}[1])
start_m = Assign(m, f32{2}[0.5])
step = ApplyPowerSign(var, m, f32(0.1), f32(0.7), f32(0.9), f32(0.9), f32[1, -2])
target start_var
target start_m
run
fetch step = f32[0.8122389, 1.106518]
)",
};

} // namespace troupe::ops::sign_update_op

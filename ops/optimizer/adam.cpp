// Adam and AdaMax.
#include "troupe/ops/optimizer/shared/training.hpp"

namespace troupe::ops::adam_op {
namespace {

constexpr port_list apply_adam_inputs{
    ref("var", "T"), ref("m", "T"),  ref("v", "T"),  {"beta1_power", "T"}, {"beta2_power", "T"},
    {"lr", "T"},     {"beta1", "T"}, {"beta2", "T"}, {"epsilon", "T"},     {"grad", "T"}};

constexpr port_list apply_ada_max_inputs{ref("var", "T"),      ref("m", "T"),    ref("v", "T"),
                                         {"beta1_power", "T"}, {"lr", "T"},      {"beta1", "T"},
                                         {"beta2", "T"},       {"epsilon", "T"}, {"grad", "T"}};

} // namespace

extern constexpr op_def apply_adam{
    .name = "ApplyAdam",
    .doc = "Steps a variable by the Adam algorithm.\n\nm += (grad - m) * (1 - beta1) and v += "
           "(grad * grad - v) * (1 - beta2); then var -= rate * m / (sqrt(v) + epsilon), where "
           "rate = lr * sqrt(1 - beta2_power) / (1 - beta1_power). With use_nesterov beta1 * m "
           "+ (1 - beta1) * grad takes the place of m. Updates that share variables exclude "
           "each other; with use_locking=false they race, as is TensorFlow's default, and "
           "concurrent updates may be lost in part.",
    .inputs = apply_adam_inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating}, {"use_locking", true}, {"use_nesterov", false}},
    .effects = effect::stateful,
    .by_handle = {.name = "ResourceApplyAdam"},
    .infer = infer_training<roles_of(apply_adam_inputs)>,
    .no_gradient = "state does not carry gradients",
    .example = R"(
var = VariableV2 dtype=f32 shape=[2]
m = VariableV2 dtype=f32 shape=[2]
v = VariableV2 dtype=f32 shape=[2]
start_var = Assign(var, f32{2}[1])
start_m = Assign(m, f32{2}[0])
start_v = Assign(v, f32{2}[0])
step = ApplyAdam(var, m, v, f32(0.9), f32(0.99), f32(0.1), f32(0.9), f32(0.99), f32(0.001),
                 f32[1, -2])
target start_var
target start_m
target start_v
run
fetch step = f32[0.9009901, 1.099502]
)",
};

extern constexpr op_def apply_ada_max{
    .name = "ApplyAdaMax",
    .doc = "Steps a variable by the AdaMax algorithm.\n\nm += (grad - m) * (1 - beta1) and v = "
           "max(beta2 * v, |grad|); then var -= lr / (1 - beta1_power) * m / (v + epsilon). "
           "Updates that share variables exclude each other; with use_locking=false they race, "
           "as is TensorFlow's default, and concurrent updates may be lost in part.",
    .inputs = apply_ada_max_inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating}, {"use_locking", true}},
    .effects = effect::stateful,
    .by_handle = {.name = "ResourceApplyAdaMax"},
    .infer = infer_training<roles_of(apply_ada_max_inputs)>,
    .no_gradient = "state does not carry gradients",
    .example = R"(
var = VariableV2 dtype=f32 shape=[2]
m = VariableV2 dtype=f32 shape=[2]
v = VariableV2 dtype=f32 shape=[2]
start_var = Assign(var, f32{2}[1])
start_m = Assign(m, f32{2}[0])
start_v = Assign(v, f32{2}[0])
step = ApplyAdaMax(var, m, v, f32(0.9), f32(0.1), f32(0.9), f32(0.99), f32(0.001), f32[1, -2])
target start_var
target start_m
target start_v
run
fetch step = f32[0.9000999, 1.09995]
)",
};

} // namespace troupe::ops::adam_op

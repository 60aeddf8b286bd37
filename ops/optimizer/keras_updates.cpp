// Updates added by TensorFlow 2: Adagrad with an epsilon, Keras' momentum, AMSGrad.
#include "troupe/ops/optimizer/shared/training.hpp"

namespace troupe::ops::keras_updates_op {
namespace {

constexpr port_list apply_adagrad_v2_inputs{
    ref("var", "T"), ref("accum", "T"), {"lr", "T"}, {"epsilon", "T"}, {"grad", "T"}};

constexpr port_list sparse_apply_adagrad_v2_inputs{ref("var", "T"), ref("accum", "T"),
                                                   {"lr", "T"},     {"epsilon", "T"},
                                                   {"grad", "T"},   {"indices", "Tindices"}};

constexpr port_list keras_momentum_inputs{
    handle("var", "T"), handle("accum", "T"), {"lr", "T"}, {"grad", "T"}, {"momentum", "T"}};

constexpr port_list sparse_keras_momentum_inputs{
    handle("var", "T"), handle("accum", "T"),    {"lr", "T"},
    {"grad", "T"},      {"indices", "Tindices"}, {"momentum", "T"}};

constexpr port_list amsgrad_inputs{handle("var", "T"),  handle("m", "T"),     handle("v", "T"),
                                   handle("vhat", "T"), {"beta1_power", "T"}, {"beta2_power", "T"},
                                   {"lr", "T"},         {"beta1", "T"},       {"beta2", "T"},
                                   {"epsilon", "T"},    {"grad", "T"}};

} // namespace

extern constexpr op_def apply_adagrad_v2{
    .name = "ApplyAdagradV2",
    .doc = "Steps a variable against its gradient, by less where gradients were large.\n\naccum "
           "+= grad * grad, unless update_slots is false; then var -= lr * grad / (sqrt(accum) + "
           "epsilon). Updates that share variables exclude each other; with use_locking=false "
           "they race, as is TensorFlow's default, and concurrent updates may be lost in part.",
    .inputs = apply_adagrad_v2_inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating}, {"use_locking", true}, {"update_slots", true}},
    .effects = effect::stateful,
    .by_handle = {.name = "ResourceApplyAdagradV2"},
    .infer = infer_training<roles_of(apply_adagrad_v2_inputs)>,
    .no_gradient = "state does not carry gradients",
    .example = R"(
var = VariableV2 dtype=f32 shape=[2]
accum = VariableV2 dtype=f32 shape=[2]
start_var = Assign(var, f32{2}[1])
start_accum = Assign(accum, f32{2}[0.1])
step = ApplyAdagradV2(var, accum, f32(0.1), f32(0.001), f32[1, -2])
target start_var
target start_accum
run
fetch step = f32[0.9047446, 1.098724]
)",
};

extern constexpr op_def sparse_apply_adagrad_v2{
    .name = "SparseApplyAdagradV2",
    .doc = "Steps a variable against its gradient, by less where gradients were large, for the "
           "rows that indices names.\n\nRow i of grad belongs to row indices[i] of the variable; "
           "other rows stay. An index that comes twice is applied twice, in order. accum += grad "
           "* grad, unless update_slots is false; then var -= lr * grad / (sqrt(accum) + "
           "epsilon). Updates that share variables exclude each other; with use_locking=false "
           "they race, as is TensorFlow's default, and concurrent updates may be lost in part.",
    .inputs = sparse_apply_adagrad_v2_inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating},
              {"Tindices", index_types},
              {"use_locking", true},
              {"update_slots", true}},
    .effects = effect::stateful,
    .by_handle = {.name = "ResourceSparseApplyAdagradV2"},
    .infer = infer_training<roles_of(sparse_apply_adagrad_v2_inputs)>,
    .no_gradient = "state does not carry gradients",
    .example = R"(
var = VariableV2 dtype=f32 shape=[3, 2]
accum = VariableV2 dtype=f32 shape=[3, 2]
start_var = Assign(var, f32{3,2}[1])
start_accum = Assign(accum, f32{3,2}[0.1])
step = SparseApplyAdagradV2(var, accum, f32(0.1), f32(0.001), f32[[1, -2], [3, 4]], i32[2, 0])
target start_var
target start_accum
run
fetch step = f32[[0.9005839, 0.9003359], [1, 1], [0.9047446, 1.098724]]
)",
};

extern constexpr op_def resource_apply_keras_momentum{
    .name = "ResourceApplyKerasMomentum",
    .doc = "Steps a variable against its gradient, with momentum that the rate is part "
           "of.\n\naccum = accum * momentum - lr * grad, then var += accum; with use_nesterov "
           "var += accum * momentum - lr * grad. Updates that share variables exclude each "
           "other; with use_locking=false they race, as is TensorFlow's default, and concurrent "
           "updates may be lost in part.",
    .inputs = keras_momentum_inputs,
    .attrs = {{"T", floating}, {"use_locking", true}, {"use_nesterov", false}},
    .effects = effect::stateful,
    .infer = infer_training<roles_of(keras_momentum_inputs)>,
    .no_gradient = "state does not carry gradients",
    .example = R"(
var = VarHandleOp dtype=f32 shape=[2]
accum = VarHandleOp dtype=f32 shape=[2]
start_var = AssignVariableOp(var, f32{2}[1])
start_accum = AssignVariableOp(accum, f32{2}[0.5])
step = ResourceApplyKerasMomentum(var, accum, f32(0.1), f32[1, -2], f32(0.9))
target start_var
target start_accum
run
target step
fetch var = f32[1.35, 1.65]
)",
};

extern constexpr op_def resource_sparse_apply_keras_momentum{
    .name = "ResourceSparseApplyKerasMomentum",
    .doc = "Steps a variable against its gradient, with momentum that the rate is part of, for "
           "the rows that indices names.\n\nRow i of grad belongs to row indices[i] of the "
           "variable; other rows stay. An index that comes twice is applied twice, in order. "
           "accum = accum * momentum - lr * grad, then var += accum; with use_nesterov var += "
           "accum * momentum - lr * grad. Updates that share variables exclude each other; with "
           "use_locking=false they race, as is TensorFlow's default, and concurrent updates may "
           "be lost in part.",
    .inputs = sparse_keras_momentum_inputs,
    .attrs = {{"T", floating},
              {"Tindices", index_types},
              {"use_locking", true},
              {"use_nesterov", false}},
    .effects = effect::stateful,
    .infer = infer_training<roles_of(sparse_keras_momentum_inputs)>,
    .no_gradient = "state does not carry gradients",
    .example = R"(
var = VarHandleOp dtype=f32 shape=[3, 2]
accum = VarHandleOp dtype=f32 shape=[3, 2]
start_var = AssignVariableOp(var, f32{3,2}[1])
start_accum = AssignVariableOp(accum, f32{3,2}[0.5])
step = ResourceSparseApplyKerasMomentum(var, accum, f32(0.1), f32[[1, -2], [3, 4]], i32[2, 0],
                                        f32(0.9))
target start_var
target start_accum
run
target step
fetch var = f32[[1.15, 1.05], [1, 1], [1.35, 1.65]]
)",
};

extern constexpr op_def resource_apply_adam_with_amsgrad{
    .name = "ResourceApplyAdamWithAmsgrad",
    .doc = "Steps a variable by the AMSGrad algorithm.\n\nm += (grad - m) * (1 - beta1), v += "
           "(grad * grad - v) * (1 - beta2) and vhat = max(vhat, v); then var -= rate * m / "
           "(sqrt(vhat) + epsilon), where rate = lr * sqrt(1 - beta2_power) / (1 - beta1_power). "
           "Updates that share variables exclude each other; with use_locking=false they race, "
           "as is TensorFlow's default, and concurrent updates may be lost in part.",
    .inputs = amsgrad_inputs,
    .attrs = {{"T", floating}, {"use_locking", true}},
    .effects = effect::stateful,
    .infer = infer_training<roles_of(amsgrad_inputs)>,
    .no_gradient = "state does not carry gradients",
    .example = R"(
var = VarHandleOp dtype=f32 shape=[2]
m = VarHandleOp dtype=f32 shape=[2]
v = VarHandleOp dtype=f32 shape=[2]
vhat = VarHandleOp dtype=f32 shape=[2]
start_var = AssignVariableOp(var, f32{2}[1])
start_m = AssignVariableOp(m, f32{2}[0])
start_v = AssignVariableOp(v, f32{2}[0])
start_vhat = AssignVariableOp(vhat, f32{2}[0])
step = ResourceApplyAdamWithAmsgrad(var, m, v, vhat, f32(0.9), f32(0.99), f32(0.1), f32(0.9),
                                    f32(0.99), f32(0.001), f32[1, -2])
target start_var
target start_m
target start_v
target start_vhat
run
target step
fetch var = f32[0.9009901, 1.099502]
)",
};

} // namespace troupe::ops::keras_updates_op

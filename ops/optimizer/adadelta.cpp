// Adadelta, for a variable and for some of its rows.
#include "troupe/ops/optimizer/shared/training.hpp"

namespace troupe::ops::adadelta_op {
namespace {

constexpr port_list apply_adadelta_inputs{
    ref("var", "T"),  ref("accum", "T"), ref("accum_update", "T"), {"lr", "T"}, {"rho", "T"},
    {"epsilon", "T"}, {"grad", "T"}};

constexpr port_list sparse_apply_adadelta_inputs{
    ref("var", "T"),  ref("accum", "T"), ref("accum_update", "T"), {"lr", "T"}, {"rho", "T"},
    {"epsilon", "T"}, {"grad", "T"},     {"indices", "Tindices"}};

} // namespace

extern constexpr op_def apply_adadelta{
    .name = "ApplyAdadelta",
    .doc = "Steps a variable against its gradient, with rates from past updates.\n\naccum = "
           "rho * accum + (1 - rho) * grad * grad; update = sqrt((accum_update + epsilon) / "
           "(accum + epsilon)) * grad; accum_update = rho * accum_update + (1 - rho) * update "
           "* update; var -= lr * update. Updates that share variables exclude each other; "
           "with use_locking=false they race, as is TensorFlow's default, and concurrent "
           "updates may be lost in part.",
    .inputs = apply_adadelta_inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating}, {"use_locking", true}},
    .effects = effect::stateful,
    .by_handle = {.name = "ResourceApplyAdadelta"},
    .infer = infer_training<roles_of(apply_adadelta_inputs)>,
    .no_gradient = "state does not carry gradients",
    .example = R"(
var = VariableV2 dtype=f32 shape=[2]
accum = VariableV2 dtype=f32 shape=[2]
accum_update = VariableV2 dtype=f32 shape=[2]
start_var = Assign(var, f32{2}[1])
start_accum = Assign(accum, f32{2}[0.5])
start_accum_update = Assign(accum_update, f32{2}[0.5])
step = ApplyAdadelta(var, accum, accum_update, f32(0.1), f32(0.9), f32(0.001), f32[1, -2])
target start_var
target start_accum
target start_accum_update
run
fetch step = f32[0.9046451, 1.153456]
)",
};

extern constexpr op_def sparse_apply_adadelta{
    .name = "SparseApplyAdadelta",
    .doc = "Steps a variable against its gradient, with rates from past updates, for the rows "
           "that indices names.\n\nRow i of grad belongs to row indices[i] of the variable; "
           "other rows stay. accum = rho * accum + (1 - rho) * grad * grad; update = "
           "sqrt((accum_update + epsilon) / (accum + epsilon)) * grad; accum_update = rho * "
           "accum_update + (1 - rho) * update * update; var -= lr * update. An index that "
           "comes twice is applied twice, in order. Updates that share variables exclude each "
           "other; with use_locking=false they race, as is TensorFlow's default, and "
           "concurrent updates may be lost in part.",
    .inputs = sparse_apply_adadelta_inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating}, {"Tindices", index_types}, {"use_locking", true}},
    .effects = effect::stateful,
    .by_handle = {.name = "ResourceSparseApplyAdadelta"},
    .infer = infer_training<roles_of(sparse_apply_adadelta_inputs)>,
    .no_gradient = "state does not carry gradients",
    .example = R"(
var = VariableV2 dtype=f32 shape=[3, 2]
accum = VariableV2 dtype=f32 shape=[3, 2]
accum_update = VariableV2 dtype=f32 shape=[3, 2]
start_var = Assign(var, f32{3,2}[1])
start_accum = Assign(accum, f32{3,2}[0.5])
start_accum_update = Assign(accum_update, f32{3,2}[0.5])
step = SparseApplyAdadelta(var, accum, accum_update, f32(0.1), f32(0.9), f32(0.001), f32[[1,
                           -2], [3, 4]], i32[2, 0])
target start_var
target start_accum
target start_accum_update
run
fetch step = f32[[0.817311, 0.8023049], [1, 1], [0.9046451, 1.153456]]
)",
};

} // namespace troupe::ops::adadelta_op

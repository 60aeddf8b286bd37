// Adagrad and its dual averaging, for a variable and for some of its rows.
#include "troupe/ops/optimizer/shared/training.hpp"

namespace troupe::ops::adagrad_op {
namespace {

constexpr port_list apply_adagrad_inputs{
    ref("var", "T"), ref("accum", "T"), {"lr", "T"}, {"grad", "T"}};

constexpr port_list sparse_apply_adagrad_inputs{
    ref("var", "T"), ref("accum", "T"), {"lr", "T"}, {"grad", "T"}, {"indices", "Tindices"}};

constexpr port_list apply_adagrad_da_inputs{ref("var", "T"),
                                            ref("gradient_accumulator", "T"),
                                            ref("gradient_squared_accumulator", "T"),
                                            {"grad", "T"},
                                            {"lr", "T"},
                                            {"l1", "T"},
                                            {"l2", "T"},
                                            {"global_step", "i64"}};

constexpr port_list sparse_apply_adagrad_da_inputs{ref("var", "T"),
                                                   ref("gradient_accumulator", "T"),
                                                   ref("gradient_squared_accumulator", "T"),
                                                   {"grad", "T"},
                                                   {"indices", "Tindices"},
                                                   {"lr", "T"},
                                                   {"l1", "T"},
                                                   {"l2", "T"},
                                                   {"global_step", "i64"}};

} // namespace

extern constexpr op_def apply_adagrad{
    .name = "ApplyAdagrad",
    .doc = "Steps a variable against its gradient, by less where gradients were "
           "large.\n\naccum += grad * grad, unless update_slots is false; then var -= lr * "
           "grad / sqrt(accum). Updates that share variables exclude each other; with "
           "use_locking=false they race, as is TensorFlow's default, and concurrent updates "
           "may be lost in part.",
    .inputs = apply_adagrad_inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating}, {"use_locking", true}, {"update_slots", true}},
    .effects = effect::stateful,
    .by_handle = {.name = "ResourceApplyAdagrad"},
    .infer = infer_training<roles_of(apply_adagrad_inputs)>,
    .no_gradient = "state does not carry gradients",
    .example = R"(
var = VariableV2 dtype=f32 shape=[2]
accum = VariableV2 dtype=f32 shape=[2]
start_var = Assign(var, f32{2}[1])
start_accum = Assign(accum, f32{2}[0.1])
step = ApplyAdagrad(var, accum, f32(0.1), f32[1, -2])
target start_var
target start_accum
run
fetch step = f32[0.9046537, 1.098773]
)",
};

extern constexpr op_def sparse_apply_adagrad{
    .name = "SparseApplyAdagrad",
    .doc = "Steps a variable against its gradient, by less where gradients were large, for the "
           "rows that indices names.\n\nRow i of grad belongs to row indices[i] of the "
           "variable; other rows stay. accum += grad * grad, unless update_slots is false; "
           "then var -= lr * grad / sqrt(accum). An index that comes twice is applied twice, "
           "in order. Updates that share variables exclude each other; with use_locking=false "
           "they race, as is TensorFlow's default, and concurrent updates may be lost in part.",
    .inputs = sparse_apply_adagrad_inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating},
              {"Tindices", index_types},
              {"use_locking", true},
              {"update_slots", true}},
    .effects = effect::stateful,
    .by_handle = {.name = "ResourceSparseApplyAdagrad"},
    .infer = infer_training<roles_of(sparse_apply_adagrad_inputs)>,
    .no_gradient = "state does not carry gradients",
    .example = R"(
var = VariableV2 dtype=f32 shape=[3, 2]
accum = VariableV2 dtype=f32 shape=[3, 2]
start_var = Assign(var, f32{3,2}[1])
start_accum = Assign(accum, f32{3,2}[0.1])
step = SparseApplyAdagrad(var, accum, f32(0.1), f32[[1, -2], [3, 4]], i32[2, 0])
target start_var
target start_accum
run
fetch step = f32[[0.900551, 0.9003111], [1, 1], [0.9046537, 1.098773]]
)",
};

extern constexpr op_def apply_adagrad_da{
    .name = "ApplyAdagradDA",
    .doc = "Sets a variable by the sum of all its gradients (dual "
           "averaging).\n\ngradient_accumulator += grad and gradient_squared_accumulator += "
           "grad * grad; then var = -lr * shrunk / (l2 * global_step * lr + "
           "sqrt(gradient_squared_accumulator)), where shrunk is gradient_accumulator, closer "
           "to zero by l1 * global_step, or zero. A negative l1 counts as 0. Updates that "
           "share variables exclude each other; with use_locking=false they race, as is "
           "TensorFlow's default, and concurrent updates may be lost in part.",
    .inputs = apply_adagrad_da_inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating}, {"use_locking", true}},
    .effects = effect::stateful,
    .by_handle = {.name = "ResourceApplyAdagradDA"},
    .infer = infer_training<roles_of(apply_adagrad_da_inputs)>,
    .no_gradient = "state does not carry gradients",
    .example = R"(
var = VariableV2 dtype=f32 shape=[2]
gradient_accumulator = VariableV2 dtype=f32 shape=[2]
gradient_squared_accumulator = VariableV2 dtype=f32 shape=[2]
start_var = Assign(var, f32{2}[1])
start_gradient_accumulator = Assign(gradient_accumulator, f32{2}[0])
start_gradient_squared_accumulator = Assign(gradient_squared_accumulator, f32{2}[0.1])
step = ApplyAdagradDA(var, gradient_accumulator, gradient_squared_accumulator, f32[1, -2],
                      f32(0.1), f32(0.01), f32(0.1), i64(1))
target start_var
target start_gradient_accumulator
target start_gradient_squared_accumulator
run
fetch step = f32[-0.0935013, 0.09779612]
)",
};

extern constexpr op_def sparse_apply_adagrad_da{
    .name = "SparseApplyAdagradDA",
    .doc = "Sets a variable by the sum of all its gradients (dual averaging), for the rows "
           "that indices names.\n\nRow i of grad belongs to row indices[i] of the variable; "
           "other rows stay. gradient_accumulator += grad and gradient_squared_accumulator += "
           "grad * grad; then var = -lr * shrunk / (l2 * global_step * lr + "
           "sqrt(gradient_squared_accumulator)), where shrunk is gradient_accumulator, closer "
           "to zero by l1 * global_step, or zero. A negative l1 counts as 0. An index that "
           "comes twice is applied twice, in order. Updates that share variables exclude each "
           "other; with use_locking=false they race, as is TensorFlow's default, and "
           "concurrent updates may be lost in part.",
    .inputs = sparse_apply_adagrad_da_inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating}, {"Tindices", index_types}, {"use_locking", true}},
    .effects = effect::stateful,
    .by_handle = {.name = "ResourceSparseApplyAdagradDA"},
    .infer = infer_training<roles_of(sparse_apply_adagrad_da_inputs)>,
    .no_gradient = "state does not carry gradients",
    .example = R"(
var = VariableV2 dtype=f32 shape=[3, 2]
gradient_accumulator = VariableV2 dtype=f32 shape=[3, 2]
gradient_squared_accumulator = VariableV2 dtype=f32 shape=[3, 2]
start_var = Assign(var, f32{3,2}[1])
start_gradient_accumulator = Assign(gradient_accumulator, f32{3,2}[0])
start_gradient_squared_accumulator = Assign(gradient_squared_accumulator, f32{3,2}[0.1])
step = SparseApplyAdagradDA(var, gradient_accumulator, gradient_squared_accumulator, f32[[1,
                            -2], [3, 4]], i32[2, 0], f32(0.1), f32(0.01), f32(0.1), i64(1))
target start_var
target start_gradient_accumulator
target start_gradient_squared_accumulator
run
fetch step = f32[[-0.09879005, -0.09919253], [1, 1], [-0.0935013, 0.09779612]]
)",
};

} // namespace troupe::ops::adagrad_op

// Gradient descent and Adagrad with penalties on large values, for a variable and for some of its
// rows.
#include "troupe/ops/optimizer/shared/training.hpp"

namespace troupe::ops::proximal_op {
namespace {

constexpr port_list apply_proximal_gradient_descent_inputs{
    ref("var", "T"), {"alpha", "T"}, {"l1", "T"}, {"l2", "T"}, {"delta", "T"}};

constexpr port_list sparse_apply_proximal_gradient_descent_inputs{
    ref("var", "T"), {"alpha", "T"}, {"l1", "T"},
    {"l2", "T"},     {"grad", "T"},  {"indices", "Tindices"}};

constexpr port_list apply_proximal_adagrad_inputs{
    ref("var", "T"), ref("accum", "T"), {"lr", "T"}, {"l1", "T"}, {"l2", "T"}, {"grad", "T"}};

constexpr port_list sparse_apply_proximal_adagrad_inputs{
    ref("var", "T"), ref("accum", "T"),      {"lr", "T"}, {"l1", "T"}, {"l2", "T"},
    {"grad", "T"},   {"indices", "Tindices"}};

} // namespace

extern constexpr op_def apply_proximal_gradient_descent{
    .name = "ApplyProximalGradientDescent",
    .doc = "Steps a variable against its gradient, with forward-backward splitting for l1 and "
           "l2.\n\nrate = alpha; prox = var - rate * gradient; var = prox, closer to zero by "
           "rate * l1, or zero, divided by 1 + l2 * rate. A negative l1 counts as 0. Updates "
           "that share variables exclude each other; with use_locking=false they race, as is "
           "TensorFlow's default, and concurrent updates may be lost in part.",
    .inputs = apply_proximal_gradient_descent_inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating}, {"use_locking", true}},
    .effects = effect::stateful,
    .by_handle = {.name = "ResourceApplyProximalGradientDescent"},
    .infer = infer_training<roles_of(apply_proximal_gradient_descent_inputs)>,
    .no_gradient = "state does not carry gradients",
    .example = R"(
var = VariableV2 dtype=f32 shape=[2]
start_var = Assign(var, f32{2}[1])
step = ApplyProximalGradientDescent(var, f32(0.1), f32(0.01), f32(0.1), f32[1, -2])
target start_var
run
fetch step = f32[0.890099, 1.187129]
)",
};

extern constexpr op_def sparse_apply_proximal_gradient_descent{
    .name = "SparseApplyProximalGradientDescent",
    .doc = "Steps a variable against its gradient, with forward-backward splitting for l1 and "
           "l2, for the rows that indices names.\n\nRow i of grad belongs to row indices[i] of "
           "the variable; other rows stay. rate = alpha; prox = var - rate * gradient; var = "
           "prox, closer to zero by rate * l1, or zero, divided by 1 + l2 * rate. A negative "
           "l1 counts as 0. An index that comes twice is applied twice, in order. Updates that "
           "share variables exclude each other; with use_locking=false they race, as is "
           "TensorFlow's default, and concurrent updates may be lost in part.",
    .inputs = sparse_apply_proximal_gradient_descent_inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating}, {"Tindices", index_types}, {"use_locking", true}},
    .effects = effect::stateful,
    .by_handle = {.name = "ResourceSparseApplyProximalGradientDescent"},
    .infer = infer_training<roles_of(sparse_apply_proximal_gradient_descent_inputs)>,
    .no_gradient = "state does not carry gradients",
    .example = R"(
var = VariableV2 dtype=f32 shape=[3, 2]
start_var = Assign(var, f32{3,2}[1])
step = SparseApplyProximalGradientDescent(var, f32(0.1), f32(0.01), f32(0.1), f32[[1, -2], [3,
                                          4]], i32[2, 0])
target start_var
run
fetch step = f32[[0.6920792, 0.5930694], [1, 1], [0.890099, 1.187129]]
)",
};

extern constexpr op_def apply_proximal_adagrad{
    .name = "ApplyProximalAdagrad",
    .doc = "Steps a variable by Adagrad, with forward-backward splitting for l1 and "
           "l2.\n\naccum += grad * grad; rate = lr / sqrt(accum); prox = var - rate * grad; "
           "var = prox, closer to zero by rate * l1, or zero, divided by 1 + l2 * rate. A "
           "negative l1 counts as 0. Updates that share variables exclude each other; with "
           "use_locking=false they race, as is TensorFlow's default, and concurrent updates "
           "may be lost in part.",
    .inputs = apply_proximal_adagrad_inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating}, {"use_locking", true}},
    .effects = effect::stateful,
    .by_handle = {.name = "ResourceApplyProximalAdagrad"},
    .infer = infer_training<roles_of(apply_proximal_adagrad_inputs)>,
    .no_gradient = "state does not carry gradients",
    .example = R"(
var = VariableV2 dtype=f32 shape=[2]
accum = VariableV2 dtype=f32 shape=[2]
start_var = Assign(var, f32{2}[1])
start_accum = Assign(accum, f32{2}[0.1])
step = ApplyProximalAdagrad(var, accum, f32(0.1), f32(0.01), f32(0.1), f32[1, -2])
target start_var
target start_accum
run
fetch step = f32[0.8951653, 1.092882]
)",
};

extern constexpr op_def sparse_apply_proximal_adagrad{
    .name = "SparseApplyProximalAdagrad",
    .doc = "Steps a variable by Adagrad, with forward-backward splitting for l1 and l2, for "
           "the rows that indices names.\n\nRow i of grad belongs to row indices[i] of the "
           "variable; other rows stay. accum += grad * grad; rate = lr / sqrt(accum); prox = "
           "var - rate * grad; var = prox, closer to zero by rate * l1, or zero, divided by 1 "
           "+ l2 * rate. A negative l1 counts as 0. An index that comes twice is applied "
           "twice, in order. Updates that share variables exclude each other; with "
           "use_locking=false they race, as is TensorFlow's default, and concurrent updates "
           "may be lost in part.",
    .inputs = sparse_apply_proximal_adagrad_inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating}, {"Tindices", index_types}, {"use_locking", true}},
    .effects = effect::stateful,
    .by_handle = {.name = "ResourceSparseApplyProximalAdagrad"},
    .infer = infer_training<roles_of(sparse_apply_proximal_adagrad_inputs)>,
    .no_gradient = "state does not carry gradients",
    .example = R"(
var = VariableV2 dtype=f32 shape=[3, 2]
accum = VariableV2 dtype=f32 shape=[3, 2]
start_var = Assign(var, f32{3,2}[1])
start_accum = Assign(accum, f32{3,2}[0.1])
step = SparseApplyProximalAdagrad(var, accum, f32(0.1), f32(0.01), f32(0.1), f32[[1, -2], [3,
                                  4]], i32[2, 0])
target start_var
target start_accum
run
fetch step = f32[[0.8972451, 0.8978243], [1, 1], [0.8951653, 1.092882]]
)",
};

} // namespace troupe::ops::proximal_op

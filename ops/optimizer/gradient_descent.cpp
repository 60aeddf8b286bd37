// Gradient descent, without momentum and with it.
#include "troupe/ops/optimizer/shared/training.hpp"
#include "troupe/ops/state/shared/update.hpp"

namespace troupe::ops::gradient_descent_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(at.of_rank(1, 0));
  return infer_update(at);
}

constexpr port_list apply_momentum_inputs{
    ref("var", "T"), ref("accum", "T"), {"lr", "T"}, {"grad", "T"}, {"momentum", "T"}};

constexpr port_list sparse_apply_momentum_inputs{
    ref("var", "T"), ref("accum", "T"),       {"lr", "T"},
    {"grad", "T"},   {"indices", "Tindices"}, {"momentum", "T"}};

} // namespace

extern constexpr op_def apply_gradient_descent{
    .name = "ApplyGradientDescent",
    .doc = "Subtracts alpha * delta from a variable, in place.\n\n"
           "Updates of one variable exclude each other; with use_locking=false they race, as is "
           "TensorFlow's default, and concurrent updates may be lost in part.",
    .inputs = {ref("var", "T"), {"alpha", "T"}, {"delta", "T"}},
    .outputs = {ref("out", "T")},
    .attrs = {{"T", numbers}, {"use_locking", true}},
    .effects = effect::stateful,
    .by_handle = {.name = "ResourceApplyGradientDescent"},
    .infer = infer,
    .no_gradient = "state does not carry gradients",
    .example = R"(
w = VariableV2 dtype=f32 shape=[2]
init = Assign(w, f32[1, 2])
step = ApplyGradientDescent(w, f32(0.5), f32[2, 4])
target init
run
fetch step = f32[0, 0]
)",
};

extern constexpr op_def apply_momentum{
    .name = "ApplyMomentum",
    .doc = "Steps a variable against its gradient, with momentum.\n\naccum = accum * momentum "
           "+ grad, then var -= lr * accum; with use_nesterov var -= lr * (grad + momentum * "
           "accum). Updates that share variables exclude each other; with use_locking=false "
           "they race, as is TensorFlow's default, and concurrent updates may be lost in part.",
    .inputs = apply_momentum_inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating}, {"use_locking", true}, {"use_nesterov", false}},
    .effects = effect::stateful,
    .by_handle = {.name = "ResourceApplyMomentum"},
    .infer = infer_training<roles_of(apply_momentum_inputs)>,
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

extern constexpr op_def sparse_apply_momentum{
    .name = "SparseApplyMomentum",
    .doc = "Steps a variable against its gradient, with momentum, for the rows that indices "
           "names.\n\nRow i of grad belongs to row indices[i] of the variable; other rows "
           "stay. accum = accum * momentum + grad, then var -= lr * accum; with use_nesterov "
           "var -= lr * (grad + momentum * accum). An index that comes twice is applied twice, "
           "in order. Updates that share variables exclude each other; with use_locking=false "
           "they race, as is TensorFlow's default, and concurrent updates may be lost in part.",
    .inputs = sparse_apply_momentum_inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating},
              {"Tindices", index_types},
              {"use_locking", true},
              {"use_nesterov", false}},
    .effects = effect::stateful,
    .by_handle = {.name = "ResourceSparseApplyMomentum"},
    .infer = infer_training<roles_of(sparse_apply_momentum_inputs)>,
    .no_gradient = "state does not carry gradients",
    .example = R"(
var = VariableV2 dtype=f32 shape=[3, 2]
accum = VariableV2 dtype=f32 shape=[3, 2]
start_var = Assign(var, f32{3,2}[1])
start_accum = Assign(accum, f32{3,2}[0.5])
step = SparseApplyMomentum(var, accum, f32(0.1), f32[[1, -2], [3, 4]], i32[2, 0], f32(0.9))
target start_var
target start_accum
run
fetch step = f32[[0.655, 0.555], [1, 1], [0.855, 1.155]]
)",
};

} // namespace troupe::ops::gradient_descent_op

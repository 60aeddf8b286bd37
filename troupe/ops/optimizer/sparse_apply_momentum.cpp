// SparseApplyMomentum: gradient descent that keeps its direction, of some rows.
#include "troupe/ops/optimizer/shared/training.hpp"

namespace troupe::ops::sparse_apply_momentum_op {
namespace {

constexpr port_list inputs{ref("var", "T"), ref("accum", "T"),       {"lr", "T"},
                           {"grad", "T"},   {"indices", "Tindices"}, {"momentum", "T"}};

} // namespace

extern constexpr op_def sparse_apply_momentum{
    .name = "SparseApplyMomentum",
    .doc = "Steps a variable against its gradient, with momentum, for the rows that indices "
           "names.\n\nRow i of grad belongs to row indices[i] of the variable; other rows "
           "stay. accum = accum * momentum + grad, then var -= lr * accum; with use_nesterov "
           "var -= lr * (grad + momentum * accum). An index that comes twice is applied twice, "
           "in order. Updates that share variables exclude each other; with use_locking=false "
           "they race, as is TensorFlow's default, and concurrent updates may be lost in part.",
    .inputs = inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating},
              {"Tindices", index_types},
              {"use_locking", true},
              {"use_nesterov", false}},
    .effects = effect::stateful,
    .infer = infer_training<roles_of(inputs)>,
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

} // namespace troupe::ops::sparse_apply_momentum_op

// SparseApplyAdagrad: a rate of its own for each element, of some rows.
#include "troupe/ops/optimizer/shared/training.hpp"

namespace troupe::ops::sparse_apply_adagrad_op {
namespace {

constexpr port_list inputs{
    ref("var", "T"), ref("accum", "T"), {"lr", "T"}, {"grad", "T"}, {"indices", "Tindices"}};

} // namespace

extern constexpr op_def sparse_apply_adagrad{
    .name = "SparseApplyAdagrad",
    .doc = "Steps a variable against its gradient, by less where gradients were large, for the "
           "rows that indices names.\n\nRow i of grad belongs to row indices[i] of the "
           "variable; other rows stay. accum += grad * grad, unless update_slots is false; "
           "then var -= lr * grad / sqrt(accum). An index that comes twice is applied twice, "
           "in order. Updates that share variables exclude each other; with use_locking=false "
           "they race, as is TensorFlow's default, and concurrent updates may be lost in part.",
    .inputs = inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating},
              {"Tindices", index_types},
              {"use_locking", true},
              {"update_slots", true}},
    .effects = effect::stateful,
    .infer = infer_training<roles_of(inputs)>,
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

} // namespace troupe::ops::sparse_apply_adagrad_op

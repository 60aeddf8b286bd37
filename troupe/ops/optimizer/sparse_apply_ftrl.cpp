// SparseApplyFtrl: online learning of sparse models, of some rows.
#include "troupe/ops/optimizer/shared/training.hpp"

namespace troupe::ops::sparse_apply_ftrl_op {
namespace {

constexpr port_list inputs{
    ref("var", "T"),         ref("accum", "T"), ref("linear", "T"), {"grad", "T"},
    {"indices", "Tindices"}, {"lr", "T"},       {"l1", "T"},        {"l2", "T"},
    {"lr_power", "T"}};

} // namespace

extern constexpr op_def sparse_apply_ftrl{
    .name = "SparseApplyFtrl",
    .doc = "Steps a variable by the Ftrl-proximal algorithm, for the rows that indices "
           "names.\n\nRow i of grad belongs to row indices[i] of the variable; other rows "
           "stay. With power(x) = x^-lr_power: the new accum is accum + grad * grad; linear += "
           "grad - (power(new accum) - power(accum)) / lr * var; var = (clip(linear, -l1, l1) "
           "- linear) / (power(new accum) / lr + 2 * l2). With multiply_linear_by_lr, linear "
           "holds lr times that, and lr may be 0. An index that comes twice is applied twice, "
           "in order. Updates that share variables exclude each other; with use_locking=false "
           "they race, as is TensorFlow's default, and concurrent updates may be lost in part.",
    .inputs = inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating},
              {"Tindices", index_types},
              {"use_locking", true},
              {"multiply_linear_by_lr", false}},
    .effects = effect::stateful,
    .infer = infer_training<roles_of(inputs)>,
    .no_gradient = "state does not carry gradients",
    .example = R"(
var = VariableV2 dtype=f32 shape=[3, 2]
accum = VariableV2 dtype=f32 shape=[3, 2]
linear = VariableV2 dtype=f32 shape=[3, 2]
start_var = Assign(var, f32{3,2}[1])
start_accum = Assign(accum, f32{3,2}[0.1])
start_linear = Assign(linear, f32{3,2}[0])
step = SparseApplyFtrl(var, accum, linear, f32[[1, -2], [3, 4]], i32[2, 0], f32(0.1),
                       f32(0.01), f32(0.1), f32(-0.5))
target start_var
target start_accum
target start_linear
run
fetch step = f32[[0.7901523, 0.8171777], [1, 1], [0.5909204, 0.9328909]]
)",
};

} // namespace troupe::ops::sparse_apply_ftrl_op

// Follow the regularized leader, for a variable and for some of its rows.
#include "troupe/ops/optimizer/shared/training.hpp"

namespace troupe::ops::ftrl_op {
namespace {

constexpr port_list apply_ftrl_inputs{ref("var", "T"), ref("accum", "T"), ref("linear", "T"),
                                      {"grad", "T"},   {"lr", "T"},       {"l1", "T"},
                                      {"l2", "T"},     {"lr_power", "T"}};

constexpr port_list apply_ftrl_v2_inputs{ref("var", "T"), ref("accum", "T"),     ref("linear", "T"),
                                         {"grad", "T"},   {"lr", "T"},           {"l1", "T"},
                                         {"l2", "T"},     {"l2_shrinkage", "T"}, {"lr_power", "T"}};

constexpr port_list sparse_apply_ftrl_inputs{
    ref("var", "T"),         ref("accum", "T"), ref("linear", "T"), {"grad", "T"},
    {"indices", "Tindices"}, {"lr", "T"},       {"l1", "T"},        {"l2", "T"},
    {"lr_power", "T"}};

constexpr port_list sparse_apply_ftrl_v2_inputs{
    ref("var", "T"),         ref("accum", "T"), ref("linear", "T"), {"grad", "T"},
    {"indices", "Tindices"}, {"lr", "T"},       {"l1", "T"},        {"l2", "T"},
    {"l2_shrinkage", "T"},   {"lr_power", "T"}};

} // namespace

extern constexpr op_def apply_ftrl{
    .name = "ApplyFtrl",
    .doc = "Steps a variable by the Ftrl-proximal algorithm.\n\nWith power(x) = x^-lr_power: "
           "the new accum is accum + grad * grad; linear += grad - (power(new accum) - "
           "power(accum)) / lr * var; var = (clip(linear, -l1, l1) - linear) / (power(new "
           "accum) / lr + 2 * l2). With multiply_linear_by_lr, linear holds lr times that, and "
           "lr may be 0. Updates that share variables exclude each other; with "
           "use_locking=false they race, as is TensorFlow's default, and concurrent updates "
           "may be lost in part.",
    .inputs = apply_ftrl_inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating}, {"use_locking", true}, {"multiply_linear_by_lr", false}},
    .effects = effect::stateful,
    .by_handle = {.name = "ResourceApplyFtrl"},
    .infer = infer_training<roles_of(apply_ftrl_inputs)>,
    .no_gradient = "state does not carry gradients",
    .example = R"(
var = VariableV2 dtype=f32 shape=[2]
accum = VariableV2 dtype=f32 shape=[2]
linear = VariableV2 dtype=f32 shape=[2]
start_var = Assign(var, f32{2}[1])
start_accum = Assign(accum, f32{2}[0.1])
start_linear = Assign(linear, f32{2}[0])
step = ApplyFtrl(var, accum, linear, f32[1, -2], f32(0.1), f32(0.01), f32(0.1), f32(-0.5))
target start_var
target start_accum
target start_linear
run
fetch step = f32[0.5909204, 0.9328909]
)",
};

extern constexpr op_def apply_ftrl_v2{
    .name = "ApplyFtrlV2",
    .doc = "Steps a variable by the Ftrl-proximal algorithm, with shrinkage.\n\nWith shrunk = "
           "grad + 2 * l2_shrinkage * var and power(x) = x^-lr_power: the new accum is accum + "
           "grad * grad; linear += shrunk - (power(new accum) - power(accum)) / lr * var; var "
           "= (clip(linear, -l1, l1) - linear) / (power(new accum) / lr + 2 * l2). With "
           "multiply_linear_by_lr, linear holds lr times that, and lr may be 0. Updates that "
           "share variables exclude each other; with use_locking=false they race, as is "
           "TensorFlow's default, and concurrent updates may be lost in part.",
    .inputs = apply_ftrl_v2_inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating}, {"use_locking", true}, {"multiply_linear_by_lr", false}},
    .effects = effect::stateful,
    .by_handle = {.name = "ResourceApplyFtrlV2"},
    .infer = infer_training<roles_of(apply_ftrl_v2_inputs)>,
    .no_gradient = "state does not carry gradients",
    .example = R"(
var = VariableV2 dtype=f32 shape=[2]
accum = VariableV2 dtype=f32 shape=[2]
linear = VariableV2 dtype=f32 shape=[2]
start_var = Assign(var, f32{2}[1])
start_accum = Assign(accum, f32{2}[0.1])
start_linear = Assign(linear, f32{2}[0])
step = ApplyFtrlV2(var, accum, linear, f32[1, -2], f32(0.1), f32(0.01), f32(0.1), f32(0.01),
                   f32(-0.5))
target start_var
target start_accum
target start_linear
run
fetch step = f32[0.5890492, 0.9319128]
)",
};

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
    .inputs = sparse_apply_ftrl_inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating},
              {"Tindices", index_types},
              {"use_locking", true},
              {"multiply_linear_by_lr", false}},
    .effects = effect::stateful,
    .by_handle = {.name = "ResourceSparseApplyFtrl"},
    .infer = infer_training<roles_of(sparse_apply_ftrl_inputs)>,
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

extern constexpr op_def sparse_apply_ftrl_v2{
    .name = "SparseApplyFtrlV2",
    .doc = "Steps a variable by the Ftrl-proximal algorithm, with shrinkage, for the rows that "
           "indices names.\n\nRow i of grad belongs to row indices[i] of the variable; other rows "
           "stay. All else is as with ApplyFtrlV2. An index that comes twice is applied twice, in "
           "order. Updates that share variables exclude each other; with use_locking=false they "
           "race, as is TensorFlow's default, and concurrent updates may be lost in part.",
    .inputs = sparse_apply_ftrl_v2_inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating},
              {"Tindices", index_types},
              {"use_locking", true},
              {"multiply_linear_by_lr", false}},
    .effects = effect::stateful,
    .by_handle = {.name = "ResourceSparseApplyFtrlV2"},
    .infer = infer_training<roles_of(sparse_apply_ftrl_v2_inputs)>,
    .no_gradient = "state does not carry gradients",
    .example = R"(
var = VariableV2 dtype=f32 shape=[3, 2]
accum = VariableV2 dtype=f32 shape=[3, 2]
linear = VariableV2 dtype=f32 shape=[3, 2]
start_var = Assign(var, f32{3,2}[1])
start_accum = Assign(accum, f32{3,2}[0.1])
start_linear = Assign(linear, f32{3,2}[0])
step = SparseApplyFtrlV2(var, accum, linear, f32[[1, -2], [3, 4]], i32[2, 0], f32(0.1),
                         f32(0.01), f32(0.1), f32(0), f32(-0.5))
target start_var
target start_accum
target start_linear
run
fetch step = f32[[0.7901523, 0.8171777], [1, 1], [0.5909204, 0.9328909]]
)",
};

} // namespace troupe::ops::ftrl_op

// RMSProp, also centered, for a variable and for some of its rows.
#include "troupe/ops/optimizer/shared/training.hpp"

namespace troupe::ops::rms_prop_op {
namespace {

constexpr port_list apply_rms_prop_inputs{ref("var", "T"),  ref("ms", "T"), ref("mom", "T"),
                                          {"lr", "T"},      {"rho", "T"},   {"momentum", "T"},
                                          {"epsilon", "T"}, {"grad", "T"}};

constexpr port_list sparse_apply_rms_prop_inputs{
    ref("var", "T"),  ref("ms", "T"), ref("mom", "T"),
    {"lr", "T"},      {"rho", "T"},   {"momentum", "T"},
    {"epsilon", "T"}, {"grad", "T"},  {"indices", "Tindices"}};

constexpr port_list apply_centered_rms_prop_inputs{
    ref("var", "T"), ref("mg", "T"),    ref("ms", "T"),   ref("mom", "T"), {"lr", "T"},
    {"rho", "T"},    {"momentum", "T"}, {"epsilon", "T"}, {"grad", "T"}};

constexpr port_list sparse_apply_centered_rms_prop_inputs{
    ref("var", "T"), ref("mg", "T"),    ref("ms", "T"),   ref("mom", "T"), {"lr", "T"},
    {"rho", "T"},    {"momentum", "T"}, {"epsilon", "T"}, {"grad", "T"},   {"indices", "Tindices"}};

} // namespace

extern constexpr op_def apply_rms_prop{
    .name = "ApplyRMSProp",
    .doc = "Steps a variable by the RMSProp algorithm.\n\nms += (grad * grad - ms) * (1 - "
           "rho); mom = momentum * mom + lr * grad / sqrt(ms + epsilon); var -= mom. Updates "
           "that share variables exclude each other; with use_locking=false they race, as is "
           "TensorFlow's default, and concurrent updates may be lost in part.",
    .inputs = apply_rms_prop_inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating}, {"use_locking", true}},
    .effects = effect::stateful,
    .by_handle = {.name = "ResourceApplyRMSProp"},
    .infer = infer_training<roles_of(apply_rms_prop_inputs)>,
    .no_gradient = "state does not carry gradients",
    .example = R"(
var = VariableV2 dtype=f32 shape=[2]
ms = VariableV2 dtype=f32 shape=[2]
mom = VariableV2 dtype=f32 shape=[2]
start_var = Assign(var, f32{2}[1])
start_ms = Assign(ms, f32{2}[1])
start_mom = Assign(mom, f32{2}[0])
step = ApplyRMSProp(var, ms, mom, f32(0.1), f32(0.9), f32(0.9), f32(0.001), f32[1, -2])
target start_var
target start_ms
target start_mom
run
fetch step = f32[0.9000499, 1.175344]
)",
};

extern constexpr op_def sparse_apply_rms_prop{
    .name = "SparseApplyRMSProp",
    .doc = "Steps a variable by the RMSProp algorithm, for the rows that indices names.\n\nRow "
           "i of grad belongs to row indices[i] of the variable; other rows stay. ms += (grad "
           "* grad - ms) * (1 - rho); mom = momentum * mom + lr * grad / sqrt(ms + epsilon); "
           "var -= mom. An index that comes twice is applied twice, in order. Updates that "
           "share variables exclude each other; with use_locking=false they race, as is "
           "TensorFlow's default, and concurrent updates may be lost in part.",
    .inputs = sparse_apply_rms_prop_inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating}, {"Tindices", index_types}, {"use_locking", true}},
    .effects = effect::stateful,
    .by_handle = {.name = "ResourceSparseApplyRMSProp"},
    .infer = infer_training<roles_of(sparse_apply_rms_prop_inputs)>,
    .no_gradient = "state does not carry gradients",
    .example = R"(
var = VariableV2 dtype=f32 shape=[3, 2]
ms = VariableV2 dtype=f32 shape=[3, 2]
mom = VariableV2 dtype=f32 shape=[3, 2]
start_var = Assign(var, f32{3,2}[1])
start_ms = Assign(ms, f32{3,2}[1])
start_mom = Assign(mom, f32{3,2}[0])
step = SparseApplyRMSProp(var, ms, mom, f32(0.1), f32(0.9), f32(0.9), f32(0.001), f32[[1, -2],
                          [3, 4]], i32[2, 0])
target start_var
target start_ms
target start_mom
run
fetch step = f32[[0.7764553, 0.7470684], [1, 1], [0.90005, 1.175344]]
)",
};

extern constexpr op_def apply_centered_rms_prop{
    .name = "ApplyCenteredRMSProp",
    .doc = "Steps a variable by the centered RMSProp algorithm.\n\nms += (grad * grad - ms) * "
           "(1 - rho) and mg += (grad - mg) * (1 - rho); mom = momentum * mom + lr * grad / "
           "sqrt(ms - mg * mg + epsilon); var -= mom. Updates that share variables exclude "
           "each other; with use_locking=false they race, as is TensorFlow's default, and "
           "concurrent updates may be lost in part.",
    .inputs = apply_centered_rms_prop_inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating}, {"use_locking", true}},
    .effects = effect::stateful,
    .by_handle = {.name = "ResourceApplyCenteredRMSProp"},
    .infer = infer_training<roles_of(apply_centered_rms_prop_inputs)>,
    .no_gradient = "state does not carry gradients",
    .example = R"(
var = VariableV2 dtype=f32 shape=[2]
mg = VariableV2 dtype=f32 shape=[2]
ms = VariableV2 dtype=f32 shape=[2]
mom = VariableV2 dtype=f32 shape=[2]
start_var = Assign(var, f32{2}[1])
start_mg = Assign(mg, f32{2}[0])
start_ms = Assign(ms, f32{2}[1])
start_mom = Assign(mom, f32{2}[0])
step = ApplyCenteredRMSProp(var, mg, ms, mom, f32(0.1), f32(0.9), f32(0.9), f32(0.001), f32[1,
                            -2])
target start_var
target start_mg
target start_ms
target start_mom
run
fetch step = f32[0.8995469, 1.178103]
)",
};

extern constexpr op_def sparse_apply_centered_rms_prop{
    .name = "SparseApplyCenteredRMSProp",
    .doc = "Steps a variable by the centered RMSProp algorithm, for the rows that indices "
           "names.\n\nRow i of grad belongs to row indices[i] of the variable; other rows "
           "stay. ms += (grad * grad - ms) * (1 - rho) and mg += (grad - mg) * (1 - rho); mom "
           "= momentum * mom + lr * grad / sqrt(ms - mg * mg + epsilon); var -= mom. An index "
           "that comes twice is applied twice, in order. Updates that share variables exclude "
           "each other; with use_locking=false they race, as is TensorFlow's default, and "
           "concurrent updates may be lost in part.",
    .inputs = sparse_apply_centered_rms_prop_inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating}, {"Tindices", index_types}, {"use_locking", true}},
    .effects = effect::stateful,
    .by_handle = {.name = "ResourceSparseApplyCenteredRMSProp"},
    .infer = infer_training<roles_of(sparse_apply_centered_rms_prop_inputs)>,
    .no_gradient = "state does not carry gradients",
    .example = R"(
var = VariableV2 dtype=f32 shape=[3, 2]
mg = VariableV2 dtype=f32 shape=[3, 2]
ms = VariableV2 dtype=f32 shape=[3, 2]
mom = VariableV2 dtype=f32 shape=[3, 2]
start_var = Assign(var, f32{3,2}[1])
start_mg = Assign(mg, f32{3,2}[0])
start_ms = Assign(ms, f32{3,2}[1])
start_mom = Assign(mom, f32{3,2}[0])
step = SparseApplyCenteredRMSProp(var, mg, ms, mom, f32(0.1), f32(0.9), f32(0.9), f32(0.001),
                                  f32[[1, -2], [3, 4]], i32[2, 0])
target start_var
target start_mg
target start_ms
target start_mom
run
fetch step = f32[[0.7706513, 0.7385677], [1, 1], [0.8995469, 1.178103]]
)",
};

} // namespace troupe::ops::rms_prop_op

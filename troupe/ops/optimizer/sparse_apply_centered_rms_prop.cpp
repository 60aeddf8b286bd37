// SparseApplyCenteredRMSProp: gradients divided by their standard deviation, of some rows.
#include "troupe/ops/optimizer/shared/training.hpp"

namespace troupe::ops::sparse_apply_centered_rms_prop_op {
namespace {

constexpr port_list inputs{
    ref("var", "T"), ref("mg", "T"),    ref("ms", "T"),   ref("mom", "T"), {"lr", "T"},
    {"rho", "T"},    {"momentum", "T"}, {"epsilon", "T"}, {"grad", "T"},   {"indices", "Tindices"}};

} // namespace

extern constexpr op_def sparse_apply_centered_rms_prop{
    .name = "SparseApplyCenteredRMSProp",
    .doc = "Steps a variable by the centered RMSProp algorithm, for the rows that indices "
           "names.\n\nRow i of grad belongs to row indices[i] of the variable; other rows "
           "stay. ms += (grad * grad - ms) * (1 - rho) and mg += (grad - mg) * (1 - rho); mom "
           "= momentum * mom + lr * grad / sqrt(ms - mg * mg + epsilon); var -= mom. An index "
           "that comes twice is applied twice, in order. Updates that share variables exclude "
           "each other; with use_locking=false they race, as is TensorFlow's default, and "
           "concurrent updates may be lost in part.",
    .inputs = inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating}, {"Tindices", index_types}, {"use_locking", true}},
    .effects = effect::stateful,
    .infer = infer_training<roles_of(inputs)>,
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

} // namespace troupe::ops::sparse_apply_centered_rms_prop_op

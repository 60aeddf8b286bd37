// ApplyCenteredRMSProp: gradients divided by their standard deviation.
#include "troupe/ops/optimizer/shared/training.hpp"

namespace troupe::ops::apply_centered_rms_prop_op {
namespace {

constexpr port_list inputs{ref("var", "T"),   ref("mg", "T"),   ref("ms", "T"),
                           ref("mom", "T"),   {"lr", "T"},      {"rho", "T"},
                           {"momentum", "T"}, {"epsilon", "T"}, {"grad", "T"}};

} // namespace

extern constexpr op_def apply_centered_rms_prop{
    .name = "ApplyCenteredRMSProp",
    .doc = "Steps a variable by the centered RMSProp algorithm.\n\nms += (grad * grad - ms) * "
           "(1 - rho) and mg += (grad - mg) * (1 - rho); mom = momentum * mom + lr * grad / "
           "sqrt(ms - mg * mg + epsilon); var -= mom. Updates that share variables exclude "
           "each other; with use_locking=false they race, as is TensorFlow's default, and "
           "concurrent updates may be lost in part.",
    .inputs = inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating}, {"use_locking", true}},
    .effects = effect::stateful,
    .infer = infer_training<roles_of(inputs)>,
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

} // namespace troupe::ops::apply_centered_rms_prop_op

// ApplyFtrlV2: Ftrl, with a second penalty that looks at the value alone.
#include "troupe/ops/optimizer/shared/training.hpp"

namespace troupe::ops::apply_ftrl_v2_op {
namespace {

constexpr port_list inputs{ref("var", "T"), ref("accum", "T"),     ref("linear", "T"),
                           {"grad", "T"},   {"lr", "T"},           {"l1", "T"},
                           {"l2", "T"},     {"l2_shrinkage", "T"}, {"lr_power", "T"}};

} // namespace

extern constexpr op_def apply_ftrl_v2{
    .name = "ApplyFtrlV2",
    .doc = "Steps a variable by the Ftrl-proximal algorithm, with shrinkage.\n\nWith shrunk = "
           "grad + 2 * l2_shrinkage * var and power(x) = x^-lr_power: the new accum is accum + "
           "grad * grad; linear += shrunk - (power(new accum) - power(accum)) / lr * var; var "
           "= (clip(linear, -l1, l1) - linear) / (power(new accum) / lr + 2 * l2). With "
           "multiply_linear_by_lr, linear holds lr times that, and lr may be 0. Updates that "
           "share variables exclude each other; with use_locking=false they race, as is "
           "TensorFlow's default, and concurrent updates may be lost in part.",
    .inputs = inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating}, {"use_locking", true}, {"multiply_linear_by_lr", false}},
    .effects = effect::stateful,
    .infer = infer_training<roles_of(inputs)>,
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

} // namespace troupe::ops::apply_ftrl_v2_op

// ApplyProximalAdagrad: Adagrad with penalties on large values.
#include "troupe/ops/optimizer/shared/training.hpp"

namespace troupe::ops::apply_proximal_adagrad_op {
namespace {

constexpr port_list inputs{ref("var", "T"), ref("accum", "T"), {"lr", "T"},
                           {"l1", "T"},     {"l2", "T"},       {"grad", "T"}};

} // namespace

extern constexpr op_def apply_proximal_adagrad{
    .name = "ApplyProximalAdagrad",
    .doc = "Steps a variable by Adagrad, with forward-backward splitting for l1 and "
           "l2.\n\naccum += grad * grad; rate = lr / sqrt(accum); prox = var - rate * grad; "
           "var = prox, closer to zero by rate * l1, or zero, divided by 1 + l2 * rate. A "
           "negative l1 counts as 0. Updates that share variables exclude each other; with "
           "use_locking=false they race, as is TensorFlow's default, and concurrent updates "
           "may be lost in part.",
    .inputs = inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating}, {"use_locking", true}},
    .effects = effect::stateful,
    .infer = infer_training<roles_of(inputs)>,
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

} // namespace troupe::ops::apply_proximal_adagrad_op

// ApplyAdagrad: a rate of its own for each element.
#include "troupe/ops/optimizer/shared/training.hpp"

namespace troupe::ops::apply_adagrad_op {
namespace {

constexpr port_list inputs{ref("var", "T"), ref("accum", "T"), {"lr", "T"}, {"grad", "T"}};

} // namespace

extern constexpr op_def apply_adagrad{
    .name = "ApplyAdagrad",
    .doc = "Steps a variable against its gradient, by less where gradients were "
           "large.\n\naccum += grad * grad, unless update_slots is false; then var -= lr * "
           "grad / sqrt(accum). Updates that share variables exclude each other; with "
           "use_locking=false they race, as is TensorFlow's default, and concurrent updates "
           "may be lost in part.",
    .inputs = inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating}, {"use_locking", true}, {"update_slots", true}},
    .effects = effect::stateful,
    .infer = infer_training<roles_of(inputs)>,
    .no_gradient = "state does not carry gradients",
    .example = R"(
var = VariableV2 dtype=f32 shape=[2]
accum = VariableV2 dtype=f32 shape=[2]
start_var = Assign(var, f32{2}[1])
start_accum = Assign(accum, f32{2}[0.1])
step = ApplyAdagrad(var, accum, f32(0.1), f32[1, -2])
target start_var
target start_accum
run
fetch step = f32[0.9046537, 1.098773]
)",
};

} // namespace troupe::ops::apply_adagrad_op

// ApplyProximalGradientDescent: gradient descent with penalties on large values.
#include "troupe/ops/optimizer/shared/training.hpp"

namespace troupe::ops::apply_proximal_gradient_descent_op {
namespace {

constexpr port_list inputs{
    ref("var", "T"), {"alpha", "T"}, {"l1", "T"}, {"l2", "T"}, {"delta", "T"}};

} // namespace

extern constexpr op_def apply_proximal_gradient_descent{
    .name = "ApplyProximalGradientDescent",
    .doc = "Steps a variable against its gradient, with forward-backward splitting for l1 and "
           "l2.\n\nrate = alpha; prox = var - rate * gradient; var = prox, closer to zero by "
           "rate * l1, or zero, divided by 1 + l2 * rate. A negative l1 counts as 0. Updates "
           "that share variables exclude each other; with use_locking=false they race, as is "
           "TensorFlow's default, and concurrent updates may be lost in part.",
    .inputs = inputs,
    .outputs = {ref("out", "T")},
    .attrs = {{"T", floating}, {"use_locking", true}},
    .effects = effect::stateful,
    .infer = infer_training<roles_of(inputs)>,
    .no_gradient = "state does not carry gradients",
    .example = R"(
var = VariableV2 dtype=f32 shape=[2]
start_var = Assign(var, f32{2}[1])
step = ApplyProximalGradientDescent(var, f32(0.1), f32(0.01), f32(0.1), f32[1, -2])
target start_var
run
fetch step = f32[0.890099, 1.187129]
)",
};

} // namespace troupe::ops::apply_proximal_gradient_descent_op

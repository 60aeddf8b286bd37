// ApplyGradientDescent: one step of stochastic gradient descent.
#include "troupe/ops/state/shared/update.hpp"

namespace troupe::ops::apply_gradient_descent_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(at.of_rank(1, 0));
  return infer_update(at);
}

} // namespace

extern constexpr op_def apply_gradient_descent{
    .name = "ApplyGradientDescent",
    .doc = "Subtracts alpha * delta from a variable, in place.\n\n"
           "Updates of one variable exclude each other; with use_locking=false they race, as is "
           "TensorFlow's default, and concurrent updates may be lost in part.",
    .inputs = {ref("var", "T"), {"alpha", "T"}, {"delta", "T"}},
    .outputs = {ref("out", "T")},
    .attrs = {{"T", numbers}, {"use_locking", true}},
    .effects = effect::stateful,
    .infer = infer,
    .no_gradient = "state does not carry gradients",
    .example = R"(
w = VariableV2 dtype=f32 shape=[2]
init = Assign(w, f32[1, 2])
step = ApplyGradientDescent(w, f32(0.5), f32[2, 4])
target init
run
fetch step = f32[0, 0]
)",
};

} // namespace troupe::ops::apply_gradient_descent_op

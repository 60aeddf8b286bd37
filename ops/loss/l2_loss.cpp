// L2Loss: the penalty of weight decay.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::l2_loss_op {
namespace {

edges gradient(gradient_context& at) { return {at.input(0) * at.output_gradient(0)}; }

} // namespace

extern constexpr op_def l2_loss{
    .name = "L2Loss",
    .doc = "Computes half the sum of the squares of all elements.",
    .inputs = {{"t", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", floating}},
    .infer = infer::scalar,
    .gradient = gradient,
    .example = R"(
x = Placeholder dtype=f32 shape=[-1]
loss = L2Loss(x)
feed x = f32[1, 2, 3]
fetch loss = f32(7)
)",
};

} // namespace troupe::ops::l2_loss_op

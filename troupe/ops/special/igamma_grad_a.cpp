// IgammaGradA: the derivative of Igamma by its first input.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::igamma_grad_a_op {

extern constexpr op_def igamma_grad_a{
    .name = "IgammaGradA",
    .doc = "Takes the derivative of Igamma(a, x) by a, element by element.\n\nBroadcasts by "
           "NumPy's rules.",
    .inputs = {{"a", "T"}, {"x", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", floating}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .no_gradient = "the second derivative has no closed form",
    .example = R"(
z = IgammaGradA(f32[1, 2], f32(1))
fetch z = f32[-0.43173888, -0.2761963]
)",
};

} // namespace troupe::ops::igamma_grad_a_op

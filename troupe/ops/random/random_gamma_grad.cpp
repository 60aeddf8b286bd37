// RandomGammaGrad: how a gamma-distributed number depends on the shape of its distribution.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::random_gamma_grad_op {

extern constexpr op_def random_gamma_grad{
    .name = "RandomGammaGrad",
    .doc =
        "Computes the derivative of gamma-distributed samples with respect to alpha.\n\n"
        "It is how the sample moves if alpha does and its quantile stays: minus the derivative of "
        "the distribution function with respect to alpha, divided by the density. Broadcasts by "
        "NumPy's rules.",
    .inputs = {{"alpha", "T"}, {"sample", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", one_of(dtype::f32, dtype::f64)}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .no_gradient = "second derivatives of samples are not defined",
    .example = R"(
slope = RandomGammaGrad(f32[1, 2], f32(1)) # how -log(1 - u) moves, for the first
fetch slope = f32[1.173563, 0.75077869]
)",
};

} // namespace troupe::ops::random_gamma_grad_op

// Numbers of gamma distributions, and their derivatives.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/random/shared/random.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::random_gamma_op {
namespace {

// The derivative of a number for alpha, at a fixed quantile.
edges gradient(gradient_context& at) {
  auto alpha = at.input(1), drawn = at.output(0);
  auto slope = at.op("RandomGammaGrad", {alpha, drawn});
  return {{}, unbroadcast(at.output_gradient(0) * slope, alpha, drawn)};
}

} // namespace

extern constexpr op_def random_gamma{
    .name = "RandomGamma",
    .doc = "Draws numbers from the gamma distribution with shape alpha and rate 1.\n\n"
           "The output has, for each place of the shape that is given, one number for each alpha. "
           "Every alpha must be positive. Equal seeds give equal numbers, as for RandomUniform.",
    .inputs = {on_host("shape", "S"), {"alpha", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"seed", 0},
              {"seed2", 0},
              {"S", index_types},
              {"T", one_of(dtype::f16, dtype::f32, dtype::f64)}},
    .effects = effect::stateful | effect::random,
    .infer = infer_drawn_for_each,
    .gradient = gradient,
    .example = R"(
x = RandomGamma(i32[3], f32[0.5, 2]) seed=7
shape = Shape(x)
fetch shape = i32[3, 2]
)",
};

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

} // namespace troupe::ops::random_gamma_op

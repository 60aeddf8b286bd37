// RandomPoisson: how many events there are.
#include "troupe/ops/random/shared/random.hpp"

namespace troupe::ops::random_poisson_op {

extern constexpr op_def random_poisson{
    .name = "RandomPoisson",
    .doc = "Draws numbers from Poisson distributions, in the type of their rates.\n\n"
           "The output has, for each place of the shape that is given, one number for each rate. "
           "Equal seeds give equal numbers, as for RandomUniform.",
    .inputs = {on_host("shape", "S"), {"rate", "dtype"}},
    .outputs = {{"output", "dtype"}},
    .attrs = {{"seed", 0},
              {"seed2", 0},
              {"S", index_types},
              {"dtype", one_of(dtype::f16, dtype::f32, dtype::f64)}},
    .effects = effect::stateful | effect::random,
    .infer = infer_drawn_for_each,
    .no_gradient = "its output is made of whole numbers",
    .example = R"(
x = RandomPoisson(i32[3], f32[0, 0]) seed=7
fetch x = f32[[0, 0], [0, 0], [0, 0]]
)",
};

} // namespace troupe::ops::random_poisson_op

// Numbers of Poisson distributions. The second version has more types.
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

extern constexpr op_def random_poisson_v2{
    .name = "RandomPoissonV2",
    .doc = "Draws numbers from Poisson distributions.\n\n"
           "The output has, for each place of the shape that is given, one number for each rate. "
           "Equal seeds give equal numbers, as for RandomUniform.",
    .inputs = {on_host("shape", "S"), {"rate", "R"}},
    .outputs = {{"output", "dtype"}},
    .attrs = {{"seed", 0},
              {"seed2", 0},
              {"S", index_types},
              {"R", one_of(dtype::f16, dtype::f32, dtype::f64, dtype::i32, dtype::i64), dtype::f64},
              {"dtype", one_of(dtype::f16, dtype::f32, dtype::f64, dtype::i32, dtype::i64),
               dtype::i64}},
    .effects = effect::stateful | effect::random,
    .infer = infer_drawn_for_each,
    .no_gradient = "its output is made of whole numbers",
    .example = R"(
x = RandomPoissonV2(i32[3], f64[0, 0]) seed=7
fetch x = i64[[0, 0], [0, 0], [0, 0]]
)",
};

} // namespace troupe::ops::random_poisson_op

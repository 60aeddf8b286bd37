// RandomUniform: even numbers, such as for dropout.
#include "troupe/ops/random/shared/random.hpp"

namespace troupe::ops::random_uniform_op {

extern constexpr op_def random_uniform{
    .name = "RandomUniform",
    .doc = "Draws numbers evenly from [0, 1).\n\n"
           "Equal seeds give equal numbers, whatever the number of threads; each run goes on "
           "where the last one stopped. With seed and seed2 both 0, every process draws other "
           "numbers.",
    .inputs = {on_host("shape", "T")},
    .outputs = {{"output", "dtype"}},
    .attrs = {{"seed", 0}, {"seed2", 0}, {"dtype", floating}, {"T", index_types}},
    .effects = effect::stateful | effect::random,
    .infer = infer_drawn,
    .no_gradient = "its output does not depend on the values of its inputs",
    .example = R"(
x = RandomUniform(i32[3]) dtype=f32 seed=7
shape = Shape(x)
fetch shape = i32[3]
)",
};

} // namespace troupe::ops::random_uniform_op

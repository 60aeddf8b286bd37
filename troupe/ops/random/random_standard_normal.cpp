// RandomStandardNormal: normal numbers, such as for initial weights.
#include "troupe/ops/random/shared/random.hpp"

namespace troupe::ops::random_standard_normal_op {

extern constexpr op_def random_standard_normal{
    .name = "RandomStandardNormal",
    .doc = "Draws numbers from the normal distribution with mean 0 and variance 1.\n\n"
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
x = RandomStandardNormal(i32[3]) dtype=f32 seed=7
shape = Shape(x)
fetch shape = i32[3]
)",
};

} // namespace troupe::ops::random_standard_normal_op

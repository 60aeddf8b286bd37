// TruncatedNormal: normal numbers without outliers, for initial weights.
#include "troupe/ops/random/shared/random.hpp"

namespace troupe::ops::truncated_normal_op {

extern constexpr op_def truncated_normal{
    .name = "TruncatedNormal",
    .doc = "Draws numbers from the standard normal distribution, again where one is beyond 2.\n\n"
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
x = TruncatedNormal(i32[3]) dtype=f32 seed=7
shape = Shape(x)
fetch shape = i32[3]
)",
};

} // namespace troupe::ops::truncated_normal_op

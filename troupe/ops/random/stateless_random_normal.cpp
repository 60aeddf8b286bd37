// StatelessRandomNormal: normal numbers that are the same in each run.
#include "troupe/ops/random/shared/random.hpp"

namespace troupe::ops::stateless_random_normal_op {

extern constexpr op_def stateless_random_normal = stateless({
    .name = "StatelessRandomNormal",
    .doc =
        "Draws numbers from the normal distribution with mean 0 and variance 1.\n\n"
        "Equal seeds give equal numbers, in each run and whatever the number of threads; they are "
        "not the numbers of other implementations.",
    .example = R"(
x = StatelessRandomNormal(i32[3], i64[1, 2])
y = StatelessRandomNormal(i32[3], i64[1, 2])
difference = Sub(x, y)
fetch difference = f32[0, 0, 0]
)",
});

} // namespace troupe::ops::stateless_random_normal_op

// StatelessRandomUniform: even numbers that are the same in each run.
#include "troupe/ops/random/shared/random.hpp"

namespace troupe::ops::stateless_random_uniform_op {

extern constexpr op_def stateless_random_uniform = stateless({
    .name = "StatelessRandomUniform",
    .doc =
        "Draws numbers evenly from [0, 1).\n\n"
        "Equal seeds give equal numbers, in each run and whatever the number of threads; they are "
        "not the numbers of other implementations.",
    .example = R"(
x = StatelessRandomUniform(i32[3], i64[1, 2])
y = StatelessRandomUniform(i32[3], i64[1, 2])
difference = Sub(x, y)
fetch difference = f32[0, 0, 0]
)",
});

} // namespace troupe::ops::stateless_random_uniform_op

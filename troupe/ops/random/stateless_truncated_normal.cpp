// StatelessTruncatedNormal: normal numbers without outliers, the same in each run.
#include "troupe/ops/random/shared/random.hpp"

namespace troupe::ops::stateless_truncated_normal_op {

extern constexpr op_def stateless_truncated_normal = stateless({
    .name = "StatelessTruncatedNormal",
    .doc =
        "Draws numbers from the standard normal distribution, again where one is beyond 2.\n\n"
        "Equal seeds give equal numbers, in each run and whatever the number of threads; they are "
        "not the numbers of other implementations.",
    .example = R"(
x = StatelessTruncatedNormal(i32[3], i64[1, 2])
y = StatelessTruncatedNormal(i32[3], i64[1, 2])
difference = Sub(x, y)
fetch difference = f32[0, 0, 0]
)",
});

} // namespace troupe::ops::stateless_truncated_normal_op

#include "troupe/ops/random/shared/distributions.cpu.hpp"

namespace troupe::ops::stateless_random_normal_cpu {

extern constexpr kernel_def stateless_random_normal_cpu{
    .op = "StatelessRandomNormal",
    .run = stateless_kernels<normal_draw>(types::floating),
    .key = "dtype",
};

} // namespace troupe::ops::stateless_random_normal_cpu

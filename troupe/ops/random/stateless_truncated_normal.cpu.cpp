#include "troupe/ops/random/shared/distributions.cpu.hpp"

namespace troupe::ops::stateless_truncated_normal_cpu {

extern constexpr kernel_def stateless_truncated_normal_cpu{
    .op = "StatelessTruncatedNormal",
    .run = stateless_kernels<truncated_normal_draw>(types::floating),
    .key = "dtype",
};

} // namespace troupe::ops::stateless_truncated_normal_cpu

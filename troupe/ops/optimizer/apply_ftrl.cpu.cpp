#include "troupe/ops/optimizer/shared/ftrl.cpu.hpp"

namespace troupe::ops::apply_ftrl_cpu {

extern constexpr kernel_def apply_ftrl_cpu{
    .op = "ApplyFtrl",
    .run = ftrl_kernels<false>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::apply_ftrl_cpu

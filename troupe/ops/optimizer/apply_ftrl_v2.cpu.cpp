#include "troupe/ops/optimizer/shared/ftrl.cpu.hpp"

namespace troupe::ops::apply_ftrl_v2_cpu {

extern constexpr kernel_def apply_ftrl_v2_cpu{
    .op = "ApplyFtrlV2",
    .run = ftrl_kernels<true>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::apply_ftrl_v2_cpu

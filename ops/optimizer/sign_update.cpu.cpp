#include "troupe/ops/optimizer/shared/apply.cpu.hpp"

namespace troupe::ops::sign_update_cpu {

extern constexpr kernel_def apply_add_sign_cpu{
    .op = "ApplyAddSign",
    .run = apply_kernels<add_sign>(),
    .prepare = keep_training,
};

extern constexpr kernel_def apply_power_sign_cpu{
    .op = "ApplyPowerSign",
    .run = apply_kernels<power_sign>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::sign_update_cpu

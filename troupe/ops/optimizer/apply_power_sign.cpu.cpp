#include "troupe/ops/optimizer/shared/apply.cpu.hpp"

namespace troupe::ops::apply_power_sign_cpu {

extern constexpr kernel_def apply_power_sign_cpu{
    .op = "ApplyPowerSign",
    .run = apply_kernels<power_sign>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::apply_power_sign_cpu

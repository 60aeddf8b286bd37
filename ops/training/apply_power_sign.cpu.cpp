#include "troupe/ops/training/apply.cpu.hpp"

namespace troupe::ops {

extern constexpr kernel_def apply_power_sign_cpu{
    .op = "ApplyPowerSign",
    .run = apply_kernels<power_sign>(),
    .prepare = keep_training,
};

} // namespace troupe::ops

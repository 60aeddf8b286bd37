#include "troupe/ops/training/apply.cpu.hpp"

namespace troupe::ops {

extern constexpr kernel_def apply_rms_prop_cpu{
    .op = "ApplyRMSProp",
    .run = apply_kernels<rms_prop>(),
    .prepare = keep_training,
};

} // namespace troupe::ops

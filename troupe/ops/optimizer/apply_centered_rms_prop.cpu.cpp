#include "troupe/ops/optimizer/shared/apply.cpu.hpp"

namespace troupe::ops::apply_centered_rms_prop_cpu {

extern constexpr kernel_def apply_centered_rms_prop_cpu{
    .op = "ApplyCenteredRMSProp",
    .run = apply_kernels<centered_rms_prop>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::apply_centered_rms_prop_cpu

#include "troupe/ops/optimizer/shared/apply.cpu.hpp"

namespace troupe::ops::apply_rms_prop_cpu {

extern constexpr kernel_def apply_rms_prop_cpu{
    .op = "ApplyRMSProp",
    .run = apply_kernels<rms_prop>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::apply_rms_prop_cpu

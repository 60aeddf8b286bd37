#include "troupe/ops/optimizer/shared/apply.cpu.hpp"

namespace troupe::ops::rms_prop_cpu {

extern constexpr kernel_def apply_rms_prop_cpu{
    .op = "ApplyRMSProp",
    .run = apply_kernels<rms_prop>(),
    .prepare = keep_training,
};

extern constexpr kernel_def sparse_apply_rms_prop_cpu{
    .op = "SparseApplyRMSProp",
    .run = apply_kernels<rms_prop>(),
    .prepare = keep_training,
};

extern constexpr kernel_def apply_centered_rms_prop_cpu{
    .op = "ApplyCenteredRMSProp",
    .run = apply_kernels<centered_rms_prop>(),
    .prepare = keep_training,
};

extern constexpr kernel_def sparse_apply_centered_rms_prop_cpu{
    .op = "SparseApplyCenteredRMSProp",
    .run = apply_kernels<centered_rms_prop>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::rms_prop_cpu

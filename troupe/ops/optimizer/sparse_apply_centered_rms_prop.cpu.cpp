#include "troupe/ops/optimizer/shared/apply.cpu.hpp"

namespace troupe::ops::sparse_apply_centered_rms_prop_cpu {

extern constexpr kernel_def sparse_apply_centered_rms_prop_cpu{
    .op = "SparseApplyCenteredRMSProp",
    .run = apply_kernels<centered_rms_prop>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::sparse_apply_centered_rms_prop_cpu

#include "troupe/ops/optimizer/shared/apply.cpu.hpp"

namespace troupe::ops::sparse_apply_rms_prop_cpu {

extern constexpr kernel_def sparse_apply_rms_prop_cpu{
    .op = "SparseApplyRMSProp",
    .run = apply_kernels<rms_prop>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::sparse_apply_rms_prop_cpu

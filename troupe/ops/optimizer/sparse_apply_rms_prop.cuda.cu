#include "troupe/ops/optimizer/shared/apply.cuda.hpp"

namespace troupe::ops::sparse_apply_rms_prop_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(sparse_apply_rms_prop){
    .op = "SparseApplyRMSProp",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<rms_prop>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::sparse_apply_rms_prop_gpu

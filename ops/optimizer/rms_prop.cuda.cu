#include "troupe/ops/optimizer/shared/apply.cuda.hpp"

namespace troupe::ops::rms_prop_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(apply_rms_prop){
    .op = "ApplyRMSProp",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<rms_prop>(),
    .prepare = keep_training,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(sparse_apply_rms_prop){
    .op = "SparseApplyRMSProp",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<rms_prop>(),
    .prepare = keep_training,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(apply_centered_rms_prop){
    .op = "ApplyCenteredRMSProp",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<centered_rms_prop>(),
    .prepare = keep_training,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(sparse_apply_centered_rms_prop){
    .op = "SparseApplyCenteredRMSProp",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<centered_rms_prop>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::rms_prop_gpu

#include "troupe/ops/norm/shared/batch_norm.cuda.hpp"

namespace troupe::ops::fused_batch_norm_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(fused_batch_norm){
    .op = "FusedBatchNorm",
    .device = device_kind::gpu,
    .run = gpu::batch_norm_kernels(type_list<float, double>{}),
    .prepare = prepare_batch_norm,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(fused_batch_norm_v2){
    .op = "FusedBatchNormV2",
    .device = device_kind::gpu,
    .run = gpu::batch_norm_kernels(types::floating),
    .prepare = prepare_batch_norm,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(fused_batch_norm_v3){
    .op = "FusedBatchNormV3",
    .device = device_kind::gpu,
    .run = gpu::batch_norm_kernels(types::floating),
    .prepare = prepare_batch_norm,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(fused_batch_norm_grad){
    .op = "FusedBatchNormGrad",
    .device = device_kind::gpu,
    .run = gpu::batch_norm_gradient_kernels(type_list<float, double>{}),
    .prepare = prepare_batch_norm,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(fused_batch_norm_grad_v2){
    .op = "FusedBatchNormGradV2",
    .device = device_kind::gpu,
    .run = gpu::batch_norm_gradient_kernels(types::floating),
    .prepare = prepare_batch_norm,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(fused_batch_norm_grad_v3){
    .op = "FusedBatchNormGradV3",
    .device = device_kind::gpu,
    .run = gpu::batch_norm_gradient_kernels(types::floating),
    .prepare = prepare_batch_norm,
};

} // namespace troupe::ops::fused_batch_norm_gpu

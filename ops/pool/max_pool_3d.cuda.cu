#include "troupe/ops/pool/shared/pooling.cuda.hpp"

namespace troupe::ops::max_pool_3d_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(max_pool_3d){
    .op = "MaxPool3D",
    .device = device_kind::gpu,
    .run = gpu::max_pool_kernels(types::floating),
    .prepare = prepare_pool<pool_3d>,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(max_pool_3d_grad){
    .op = "MaxPool3DGrad",
    .device = device_kind::gpu,
    .run = gpu::max_pool_gradient_kernels(types::floating),
    .prepare = prepare_pool<pool_3d>,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(max_pool_3d_grad_grad){
    .op = "MaxPool3DGradGrad",
    .device = device_kind::gpu,
    .run = gpu::max_pool_second_kernels(types::floating),
    .prepare = prepare_pool<pool_3d>,
};

} // namespace troupe::ops::max_pool_3d_gpu

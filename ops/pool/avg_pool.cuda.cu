#include "troupe/ops/pool/shared/pooling.cuda.hpp"

namespace troupe::ops::avg_pool_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(avg_pool){
    .op = "AvgPool",
    .device = device_kind::gpu,
    .run = gpu::average_pool_kernels(types::floating),
    .prepare = prepare_pool<average_pool_2d>,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(avg_pool_grad){
    .op = "AvgPoolGrad",
    .device = device_kind::gpu,
    .run = gpu::average_pool_gradient_kernels(types::floating),
    .prepare = prepare_pool<average_pool_2d>,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(avg_pool_3d){
    .op = "AvgPool3D",
    .device = device_kind::gpu,
    .run = gpu::average_pool_kernels(types::floating),
    .prepare = prepare_pool<pool_3d>,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(avg_pool_3d_grad){
    .op = "AvgPool3DGrad",
    .device = device_kind::gpu,
    .run = gpu::average_pool_gradient_kernels(types::floating),
    .prepare = prepare_pool<pool_3d>,
};

} // namespace troupe::ops::avg_pool_gpu

#include "troupe/ops/pool/shared/pooling.cuda.hpp"

namespace troupe::ops::max_pool_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(max_pool){
    .op = "MaxPool",
    .device = device_kind::gpu,
    .run = gpu::max_pool_kernels(types::floating),
    .prepare = prepare_pool<max_pool_2d>,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(max_pool_grad){
    .op = "MaxPoolGrad",
    .device = device_kind::gpu,
    .run = gpu::max_pool_gradient_kernels(types::floating),
    .prepare = prepare_pool<max_pool_2d>,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(max_pool_grad_grad){
    .op = "MaxPoolGradGrad",
    .device = device_kind::gpu,
    .run = gpu::max_pool_second_kernels(types::floating),
    .prepare = prepare_pool<max_pool_2d>,
};

} // namespace troupe::ops::max_pool_gpu

#include "troupe/ops/pool/shared/pooling.cuda.hpp"

namespace troupe::ops::max_pool_grad_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(max_pool_grad){
    .op = "MaxPoolGrad",
    .device = device_kind::gpu,
    .run = gpu::max_pool_gradient_kernels(types::floating),
    .prepare = prepare_pool<max_pool_2d>,
};

} // namespace troupe::ops::max_pool_grad_gpu

#include "troupe/ops/pool/shared/pooling.cuda.hpp"

namespace troupe::ops::avg_pool_3d_grad_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(avg_pool_3d_grad){
    .op = "AvgPool3DGrad",
    .device = device_kind::gpu,
    .run = gpu::average_pool_gradient_kernels(types::floating),
    .prepare = prepare_pool<pool_3d>,
};

} // namespace troupe::ops::avg_pool_3d_grad_gpu

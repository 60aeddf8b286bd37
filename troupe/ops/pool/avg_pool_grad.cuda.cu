#include "troupe/ops/pool/shared/pooling.cuda.hpp"

namespace troupe::ops::avg_pool_grad_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(avg_pool_grad){
    .op = "AvgPoolGrad",
    .device = device_kind::gpu,
    .run = gpu::average_pool_gradient_kernels(types::floating),
    .prepare = prepare_pool<average_pool_2d>,
};

} // namespace troupe::ops::avg_pool_grad_gpu

#include "troupe/ops/pool/shared/pooling.cuda.hpp"

namespace troupe::ops::avg_pool_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(avg_pool){
    .op = "AvgPool",
    .device = device_kind::gpu,
    .run = gpu::average_pool_kernels(types::floating),
    .prepare = prepare_pool<average_pool_2d>,
};

} // namespace troupe::ops::avg_pool_gpu

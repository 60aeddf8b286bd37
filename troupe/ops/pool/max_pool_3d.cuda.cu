#include "troupe/ops/pool/shared/pooling.cuda.hpp"

namespace troupe::ops::max_pool_3d_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(max_pool_3d){
    .op = "MaxPool3D",
    .device = device_kind::gpu,
    .run = gpu::max_pool_kernels(types::floating),
    .prepare = prepare_pool<pool_3d>,
};

} // namespace troupe::ops::max_pool_3d_gpu

#include "troupe/ops/reduction/shared/reduce.cuda.hpp"

namespace troupe::ops::euclidean_norm_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(euclidean_norm){
    .op = "EuclideanNorm",
    .device = device_kind::gpu,
    .run = gpu::reduce_kernels<euclidean_length>(gpu::reduced_types),
    .prepare = cache_attr<bool, "keep_dims">,
};

} // namespace troupe::ops::euclidean_norm_gpu

#include "troupe/ops/reduction/shared/reduce.cuda.hpp"

namespace troupe::ops::max_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(max){
    .op = "Max",
    .device = device_kind::gpu,
    .run = gpu::reduce_kernels<largest>(gpu::reduced_types),
    .prepare = cache_attr<bool, "keep_dims">,
};

} // namespace troupe::ops::max_gpu

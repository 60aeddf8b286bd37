#include "troupe/ops/reduction/shared/reduce.cuda.hpp"

namespace troupe::ops::min_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(min){
    .op = "Min",
    .device = device_kind::gpu,
    .run = gpu::reduce_kernels<smallest>(gpu::reduced_types),
    .prepare = cache_attr<bool, "keep_dims">,
};

} // namespace troupe::ops::min_gpu

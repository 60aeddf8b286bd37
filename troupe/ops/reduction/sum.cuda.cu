#include "troupe/ops/reduction/shared/reduce.cuda.hpp"

namespace troupe::ops::sum_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(sum){
    .op = "Sum",
    .device = device_kind::gpu,
    .run = gpu::reduce_kernels<addition>(gpu::reduced_types),
    .prepare = cache_attr<bool, "keep_dims">,
};

} // namespace troupe::ops::sum_gpu

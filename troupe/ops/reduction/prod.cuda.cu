#include "troupe/ops/reduction/shared/reduce.cuda.hpp"

namespace troupe::ops::prod_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(prod){
    .op = "Prod",
    .device = device_kind::gpu,
    .run = gpu::reduce_kernels<multiplication>(gpu::reduced_types),
    .prepare = cache_attr<bool, "keep_dims">,
};

} // namespace troupe::ops::prod_gpu

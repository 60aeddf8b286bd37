#include "troupe/ops/reduction/shared/reduce.cuda.hpp"

namespace troupe::ops::mean_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(mean){
    .op = "Mean",
    .device = device_kind::gpu,
    .run = gpu::reduce_kernels<average>(gpu::reduced_types),
    .prepare = cache_attr<bool, "keep_dims">,
};

} // namespace troupe::ops::mean_gpu

#include "troupe/ops/reduction/shared/arg_extreme.cuda.hpp"

namespace troupe::ops::arg_min_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(arg_min){
    .op = "ArgMin",
    .device = device_kind::gpu,
    .run = gpu::arg_extreme_kernels<std::less<>>(gpu::reduced_types),
};

} // namespace troupe::ops::arg_min_gpu

#include "troupe/ops/reduction/shared/arg_extreme.cuda.hpp"

namespace troupe::ops::arg_max_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(arg_max){
    .op = "ArgMax",
    .device = device_kind::gpu,
    .run = gpu::arg_extreme_kernels<std::greater<>>(gpu::reduced_types),
};

} // namespace troupe::ops::arg_max_gpu

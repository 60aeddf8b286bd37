#include "troupe/ops/sets/shared/unique.cuda.hpp"

namespace troupe::ops::unique_v2_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(unique_v2){
    .op = "UniqueV2",
    .device = device_kind::gpu,
    .run = gpu::compared_kernels<gpu::unique_along_axis>(),
};

} // namespace troupe::ops::unique_v2_gpu

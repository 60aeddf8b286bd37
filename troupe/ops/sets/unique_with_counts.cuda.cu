#include "troupe/ops/sets/shared/unique.cuda.hpp"

namespace troupe::ops::unique_with_counts_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(unique_with_counts){
    .op = "UniqueWithCounts",
    .device = device_kind::gpu,
    .run = gpu::compared_kernels<gpu::unique_of_vector>(),
};

} // namespace troupe::ops::unique_with_counts_gpu

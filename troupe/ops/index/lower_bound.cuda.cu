#include "troupe/ops/index/shared/search_sorted.cuda.hpp"

namespace troupe::ops::lower_bound_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(lower_bound){
    .op = "LowerBound",
    .device = device_kind::gpu,
    .run = gpu::search_kernels<false>(types::floating + type_list<int32_t, int64_t>{}),
};

} // namespace troupe::ops::lower_bound_gpu

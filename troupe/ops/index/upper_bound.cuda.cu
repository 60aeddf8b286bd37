#include "troupe/ops/index/shared/search_sorted.cuda.hpp"

namespace troupe::ops::upper_bound_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(upper_bound){
    .op = "UpperBound",
    .device = device_kind::gpu,
    .run = gpu::search_kernels<true>(types::floating + type_list<int32_t, int64_t>{}),
};

} // namespace troupe::ops::upper_bound_gpu

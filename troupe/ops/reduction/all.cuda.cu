#include "troupe/ops/reduction/shared/reduce.cuda.hpp"

namespace troupe::ops::all_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(all){
    .op = "All",
    .device = device_kind::gpu,
    .run = {{dtype::none, gpu::reduce<bool, conjunction>}},
    .prepare = cache_attr<bool, "keep_dims">,
};

} // namespace troupe::ops::all_gpu

#include "troupe/ops/reduction/shared/reduce.cuda.hpp"

namespace troupe::ops::any_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(any){
    .op = "Any",
    .device = device_kind::gpu,
    .run = {{dtype::none, gpu::reduce<bool, disjunction>}},
    .prepare = cache_attr<bool, "keep_dims">,
};

} // namespace troupe::ops::any_gpu

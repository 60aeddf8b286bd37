#include "troupe/ops/optimizer/shared/apply.cuda.hpp"

namespace troupe::ops::apply_ada_max_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(apply_ada_max){
    .op = "ApplyAdaMax",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<ada_max>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::apply_ada_max_gpu

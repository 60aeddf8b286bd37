#include "troupe/ops/optimizer/shared/apply.cuda.hpp"

namespace troupe::ops::adam_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(apply_adam){
    .op = "ApplyAdam",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<adam>(),
    .prepare = keep_training,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(apply_ada_max){
    .op = "ApplyAdaMax",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<ada_max>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::adam_gpu

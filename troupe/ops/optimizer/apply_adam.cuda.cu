#include "troupe/ops/optimizer/shared/apply.cuda.hpp"

namespace troupe::ops::apply_adam_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(apply_adam){
    .op = "ApplyAdam",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<adam>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::apply_adam_gpu

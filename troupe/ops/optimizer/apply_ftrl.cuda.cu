#include "troupe/ops/optimizer/shared/apply.cuda.hpp"

namespace troupe::ops::apply_ftrl_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(apply_ftrl){
    .op = "ApplyFtrl",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<gpu::plain_ftrl>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::apply_ftrl_gpu

#include "troupe/ops/optimizer/shared/apply.cuda.hpp"

namespace troupe::ops::apply_momentum_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(apply_momentum){
    .op = "ApplyMomentum",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<momentum>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::apply_momentum_gpu

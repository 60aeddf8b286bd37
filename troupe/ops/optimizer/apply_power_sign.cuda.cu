#include "troupe/ops/optimizer/shared/apply.cuda.hpp"

namespace troupe::ops::apply_power_sign_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(apply_power_sign){
    .op = "ApplyPowerSign",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<power_sign>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::apply_power_sign_gpu

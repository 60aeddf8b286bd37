#include "troupe/ops/optimizer/shared/apply.cuda.hpp"

namespace troupe::ops::sign_update_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(apply_add_sign){
    .op = "ApplyAddSign",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<add_sign>(),
    .prepare = keep_training,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(apply_power_sign){
    .op = "ApplyPowerSign",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<power_sign>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::sign_update_gpu

#include "troupe/ops/optimizer/shared/apply.cuda.hpp"

namespace troupe::ops::apply_centered_rms_prop_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(apply_centered_rms_prop){
    .op = "ApplyCenteredRMSProp",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<centered_rms_prop>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::apply_centered_rms_prop_gpu

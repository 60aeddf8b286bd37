#include "troupe/ops/optimizer/shared/apply.cuda.hpp"

namespace troupe::ops::apply_rms_prop_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(apply_rms_prop){
    .op = "ApplyRMSProp",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<rms_prop>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::apply_rms_prop_gpu

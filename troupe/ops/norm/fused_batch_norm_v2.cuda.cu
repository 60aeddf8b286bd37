#include "troupe/ops/norm/shared/batch_norm.cuda.hpp"

namespace troupe::ops::fused_batch_norm_v2_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(fused_batch_norm_v2){
    .op = "FusedBatchNormV2",
    .device = device_kind::gpu,
    .run = gpu::batch_norm_kernels(types::floating),
    .prepare = prepare_batch_norm,
};

} // namespace troupe::ops::fused_batch_norm_v2_gpu

#include "troupe/ops/norm/shared/batch_norm.cuda.hpp"

namespace troupe::ops::fused_batch_norm_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(fused_batch_norm){
    .op = "FusedBatchNorm",
    .device = device_kind::gpu,
    .run = gpu::batch_norm_kernels(type_list<float, double>{}),
    .prepare = prepare_batch_norm,
};

} // namespace troupe::ops::fused_batch_norm_gpu

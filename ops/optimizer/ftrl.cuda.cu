#include "troupe/ops/optimizer/shared/apply.cuda.hpp"

namespace troupe::ops::ftrl_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(apply_ftrl){
    .op = "ApplyFtrl",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<gpu::plain_ftrl>(),
    .prepare = keep_training,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(apply_ftrl_v2){
    .op = "ApplyFtrlV2",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<gpu::shrinking_ftrl>(),
    .prepare = keep_training,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(sparse_apply_ftrl){
    .op = "SparseApplyFtrl",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<gpu::plain_ftrl>(),
    .prepare = keep_training,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(sparse_apply_ftrl_v2){
    .op = "SparseApplyFtrlV2",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<gpu::shrinking_ftrl>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::ftrl_gpu

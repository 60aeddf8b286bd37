#include "troupe/ops/optimizer/shared/apply.cuda.hpp"

namespace troupe::ops::adadelta_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(apply_adadelta){
    .op = "ApplyAdadelta",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<adadelta>(),
    .prepare = keep_training,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(sparse_apply_adadelta){
    .op = "SparseApplyAdadelta",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<adadelta>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::adadelta_gpu

#include "troupe/ops/optimizer/shared/apply.cuda.hpp"

namespace troupe::ops::sparse_apply_adagrad_da_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(sparse_apply_adagrad_da){
    .op = "SparseApplyAdagradDA",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<adagrad_da>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::sparse_apply_adagrad_da_gpu

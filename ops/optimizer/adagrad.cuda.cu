#include "troupe/ops/optimizer/shared/apply.cuda.hpp"

namespace troupe::ops::adagrad_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(apply_adagrad){
    .op = "ApplyAdagrad",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<adagrad>(),
    .prepare = keep_training,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(sparse_apply_adagrad){
    .op = "SparseApplyAdagrad",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<adagrad>(),
    .prepare = keep_training,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(apply_adagrad_da){
    .op = "ApplyAdagradDA",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<adagrad_da>(),
    .prepare = keep_training,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(sparse_apply_adagrad_da){
    .op = "SparseApplyAdagradDA",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<adagrad_da>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::adagrad_gpu

#include "troupe/ops/optimizer/shared/apply.cuda.hpp"
#include "troupe/ops/optimizer/shared/keras_rules.hpp"

namespace troupe::ops::keras_updates_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(apply_adagrad_v2){
    .op = "ApplyAdagradV2",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<adagrad_v2>(),
    .prepare = keep_training,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(sparse_apply_adagrad_v2){
    .op = "SparseApplyAdagradV2",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<adagrad_v2>(),
    .prepare = keep_training,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(resource_apply_keras_momentum){
    .op = "ResourceApplyKerasMomentum",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<keras_momentum>(),
    .prepare = keep_training,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(resource_sparse_apply_keras_momentum){
    .op = "ResourceSparseApplyKerasMomentum",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<keras_momentum>(),
    .prepare = keep_training,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(resource_apply_adam_with_amsgrad){
    .op = "ResourceApplyAdamWithAmsgrad",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<amsgrad>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::keras_updates_gpu

#include "troupe/ops/optimizer/shared/apply.cuda.hpp"

namespace troupe::ops::proximal_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(apply_proximal_gradient_descent){
    .op = "ApplyProximalGradientDescent",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<proximal_gradient_descent>(),
    .prepare = keep_training,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(sparse_apply_proximal_gradient_descent){
    .op = "SparseApplyProximalGradientDescent",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<proximal_gradient_descent>(),
    .prepare = keep_training,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(apply_proximal_adagrad){
    .op = "ApplyProximalAdagrad",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<proximal_adagrad>(),
    .prepare = keep_training,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(sparse_apply_proximal_adagrad){
    .op = "SparseApplyProximalAdagrad",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<proximal_adagrad>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::proximal_gpu

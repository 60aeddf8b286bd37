#include "troupe/ops/optimizer/shared/apply.cuda.hpp"

namespace troupe::ops::sparse_apply_proximal_adagrad_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(sparse_apply_proximal_adagrad){
    .op = "SparseApplyProximalAdagrad",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<proximal_adagrad>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::sparse_apply_proximal_adagrad_gpu

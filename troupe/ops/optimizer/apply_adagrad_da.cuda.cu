#include "troupe/ops/optimizer/shared/apply.cuda.hpp"

namespace troupe::ops::apply_adagrad_da_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(apply_adagrad_da){
    .op = "ApplyAdagradDA",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<adagrad_da>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::apply_adagrad_da_gpu

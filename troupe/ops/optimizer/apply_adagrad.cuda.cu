#include "troupe/ops/optimizer/shared/apply.cuda.hpp"

namespace troupe::ops::apply_adagrad_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(apply_adagrad){
    .op = "ApplyAdagrad",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<adagrad>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::apply_adagrad_gpu

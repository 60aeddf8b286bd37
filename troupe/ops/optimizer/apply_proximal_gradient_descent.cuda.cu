#include "troupe/ops/optimizer/shared/apply.cuda.hpp"

namespace troupe::ops::apply_proximal_gradient_descent_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(apply_proximal_gradient_descent){
    .op = "ApplyProximalGradientDescent",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<proximal_gradient_descent>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::apply_proximal_gradient_descent_gpu

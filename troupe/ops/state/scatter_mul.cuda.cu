#include "troupe/ops/state/shared/update.cuda.hpp"

namespace troupe::ops::scatter_mul_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(scatter_mul){
    .op = "ScatterMul",
    .device = device_kind::gpu,
    .run = gpu::scatter_kernels<multiplying, false>(gpu::variable_types),
    .prepare = keep_scatter,
};

} // namespace troupe::ops::scatter_mul_gpu

#include "troupe/ops/state/shared/update.cuda.hpp"

namespace troupe::ops::scatter_min_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(scatter_min){
    .op = "ScatterMin",
    .device = device_kind::gpu,
    .run = gpu::scatter_kernels<smaller, false>(gpu::variable_types),
    .prepare = keep_scatter,
};

} // namespace troupe::ops::scatter_min_gpu

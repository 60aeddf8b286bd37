#include "troupe/ops/state/shared/update.cuda.hpp"

namespace troupe::ops::scatter_max_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(scatter_max){
    .op = "ScatterMax",
    .device = device_kind::gpu,
    .run = gpu::scatter_kernels<larger, false>(gpu::variable_types),
    .prepare = keep_scatter,
};

} // namespace troupe::ops::scatter_max_gpu

#include "troupe/ops/state/shared/update.cuda.hpp"

namespace troupe::ops::scatter_sub_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(scatter_sub){
    .op = "ScatterSub",
    .device = device_kind::gpu,
    .run = gpu::scatter_kernels<subtracting, false>(gpu::variable_types),
    .prepare = keep_scatter,
};

} // namespace troupe::ops::scatter_sub_gpu

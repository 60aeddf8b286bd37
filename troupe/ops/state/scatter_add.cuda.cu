#include "troupe/ops/state/shared/update.cuda.hpp"

namespace troupe::ops::scatter_add_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(scatter_add){
    .op = "ScatterAdd",
    .device = device_kind::gpu,
    .run = gpu::scatter_kernels<adding, false>(gpu::variable_types),
    .prepare = keep_scatter,
};

} // namespace troupe::ops::scatter_add_gpu

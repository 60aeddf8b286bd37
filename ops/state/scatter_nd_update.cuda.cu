#include "troupe/ops/state/shared/update.cuda.hpp"

namespace troupe::ops::scatter_nd_update_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(scatter_nd_add){
    .op = "ScatterNdAdd",
    .device = device_kind::gpu,
    .run = gpu::scatter_kernels<adding, true>(gpu::variable_types),
    .prepare = keep_scatter,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(scatter_nd_sub){
    .op = "ScatterNdSub",
    .device = device_kind::gpu,
    .run = gpu::scatter_kernels<subtracting, true>(gpu::variable_types),
    .prepare = keep_scatter,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(scatter_nd_update){
    .op = "ScatterNdUpdate",
    .device = device_kind::gpu,
    .run = {{dtype::none, gpu::scatter_over<true>}},
    .prepare = keep_scatter,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(scatter_nd_max){
    .op = "ScatterNdMax",
    .device = device_kind::gpu,
    .run = gpu::scatter_kernels<larger, true>(gpu::variable_types),
    .prepare = keep_scatter,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(scatter_nd_min){
    .op = "ScatterNdMin",
    .device = device_kind::gpu,
    .run = gpu::scatter_kernels<smaller, true>(gpu::variable_types),
    .prepare = keep_scatter,
};

} // namespace troupe::ops::scatter_nd_update_gpu

#include "troupe/ops/state/shared/update.cuda.hpp"

namespace troupe::ops::scatter_nd_update_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(scatter_nd_update){
    .op = "ScatterNdUpdate",
    .device = device_kind::gpu,
    .run = {{dtype::none, gpu::scatter_over<true>}},
    .prepare = keep_scatter,
};

} // namespace troupe::ops::scatter_nd_update_gpu

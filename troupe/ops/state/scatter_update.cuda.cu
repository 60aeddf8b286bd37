#include "troupe/ops/state/shared/update.cuda.hpp"

namespace troupe::ops::scatter_update_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(scatter_update){
    .op = "ScatterUpdate",
    .device = device_kind::gpu,
    .run = {{dtype::none, gpu::scatter_over<false>}},
    .prepare = keep_scatter,
};

} // namespace troupe::ops::scatter_update_gpu

#include "troupe/ops/join/shared/dynamic_stitch.cuda.hpp"

namespace troupe::ops::parallel_dynamic_stitch_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(parallel_dynamic_stitch){
    .op = "ParallelDynamicStitch",
    .device = device_kind::gpu,
    .run = {{dtype::none, gpu::in_halves<gpu::count_stitched, gpu::put_stitched>}},
};

} // namespace troupe::ops::parallel_dynamic_stitch_gpu

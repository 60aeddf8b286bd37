#include "troupe/ops/segment/shared/segments.cuda.hpp"

namespace troupe::ops::segment_min_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(segment_min){
    .op = "SegmentMin",
    .device = device_kind::gpu,
    .run = gpu::sorted_segment_kernels<or_zero<smallest>>(gpu::usual_types),
};

} // namespace troupe::ops::segment_min_gpu

#include "troupe/ops/segment/shared/segments.cuda.hpp"

namespace troupe::ops::segment_max_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(segment_max){
    .op = "SegmentMax",
    .device = device_kind::gpu,
    .run = gpu::sorted_segment_kernels<or_zero<largest>>(gpu::usual_types),
};

} // namespace troupe::ops::segment_max_gpu

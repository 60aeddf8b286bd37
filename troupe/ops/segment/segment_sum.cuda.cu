#include "troupe/ops/segment/shared/segments.cuda.hpp"

namespace troupe::ops::segment_sum_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(segment_sum){
    .op = "SegmentSum",
    .device = device_kind::gpu,
    .run = gpu::sorted_segment_kernels<addition>(gpu::usual_types),
};

} // namespace troupe::ops::segment_sum_gpu

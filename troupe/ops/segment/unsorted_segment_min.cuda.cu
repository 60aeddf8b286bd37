#include "troupe/ops/segment/shared/segments.cuda.hpp"

namespace troupe::ops::unsorted_segment_min_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(unsorted_segment_min){
    .op = "UnsortedSegmentMin",
    .device = device_kind::gpu,
    .run = gpu::unsorted_segment_kernels<or_extreme<smallest>>(gpu::usual_types),
};

} // namespace troupe::ops::unsorted_segment_min_gpu

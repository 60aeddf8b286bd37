#include "troupe/ops/segment/shared/segments.cuda.hpp"

namespace troupe::ops::unsorted_segment_sum_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(unsorted_segment_sum){
    .op = "UnsortedSegmentSum",
    .device = device_kind::gpu,
    .run = gpu::unsorted_segment_kernels<addition>(gpu::usual_types),
};

} // namespace troupe::ops::unsorted_segment_sum_gpu

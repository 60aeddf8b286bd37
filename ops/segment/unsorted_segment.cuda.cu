#include "troupe/ops/segment/shared/segments.cuda.hpp"

namespace troupe::ops::unsorted_segment_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(unsorted_segment_sum){
    .op = "UnsortedSegmentSum",
    .device = device_kind::gpu,
    .run = gpu::unsorted_segment_kernels<addition>(gpu::usual_types),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(unsorted_segment_prod){
    .op = "UnsortedSegmentProd",
    .device = device_kind::gpu,
    .run = gpu::unsorted_segment_kernels<multiplication>(gpu::usual_types),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(unsorted_segment_max){
    .op = "UnsortedSegmentMax",
    .device = device_kind::gpu,
    .run = gpu::unsorted_segment_kernels<or_extreme<largest>>(gpu::usual_types),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(unsorted_segment_min){
    .op = "UnsortedSegmentMin",
    .device = device_kind::gpu,
    .run = gpu::unsorted_segment_kernels<or_extreme<smallest>>(gpu::usual_types),
};

} // namespace troupe::ops::unsorted_segment_gpu

#include "troupe/ops/segment/shared/segments.cuda.hpp"

namespace troupe::ops::unsorted_segment_prod_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(unsorted_segment_prod){
    .op = "UnsortedSegmentProd",
    .device = device_kind::gpu,
    .run = gpu::unsorted_segment_kernels<multiplication>(gpu::usual_types),
};

} // namespace troupe::ops::unsorted_segment_prod_gpu

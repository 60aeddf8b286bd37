#include "troupe/ops/segment/shared/segments.cuda.hpp"

namespace troupe::ops::segment_prod_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(segment_prod){
    .op = "SegmentProd",
    .device = device_kind::gpu,
    .run = gpu::sorted_segment_kernels<multiplication>(gpu::usual_types),
};

} // namespace troupe::ops::segment_prod_gpu

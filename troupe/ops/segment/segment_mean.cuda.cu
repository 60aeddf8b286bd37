#include "troupe/ops/segment/shared/segments.cuda.hpp"

namespace troupe::ops::segment_mean_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(segment_mean){
    .op = "SegmentMean",
    .device = device_kind::gpu,
    .run = gpu::sorted_segment_kernels<average>(gpu::usual_types),
};

} // namespace troupe::ops::segment_mean_gpu

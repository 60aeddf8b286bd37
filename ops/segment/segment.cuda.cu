#include "troupe/ops/segment/shared/segments.cuda.hpp"

namespace troupe::ops::segment_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(segment_sum){
    .op = "SegmentSum",
    .device = device_kind::gpu,
    .run = gpu::sorted_segment_kernels<addition>(gpu::usual_types),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(segment_mean){
    .op = "SegmentMean",
    .device = device_kind::gpu,
    .run = gpu::sorted_segment_kernels<average>(gpu::usual_types),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(segment_prod){
    .op = "SegmentProd",
    .device = device_kind::gpu,
    .run = gpu::sorted_segment_kernels<multiplication>(gpu::usual_types),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(segment_max){
    .op = "SegmentMax",
    .device = device_kind::gpu,
    .run = gpu::sorted_segment_kernels<or_zero<largest>>(gpu::usual_types),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(segment_min){
    .op = "SegmentMin",
    .device = device_kind::gpu,
    .run = gpu::sorted_segment_kernels<or_zero<smallest>>(gpu::usual_types),
};

} // namespace troupe::ops::segment_gpu

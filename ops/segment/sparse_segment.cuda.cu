#include "troupe/ops/segment/shared/segments.cuda.hpp"

namespace troupe::ops::sparse_segment_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(sparse_segment_sum){
    .op = "SparseSegmentSum",
    .device = device_kind::gpu,
    .run = gpu::chosen_segment_kernels<addition>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(sparse_segment_mean){
    .op = "SparseSegmentMean",
    .device = device_kind::gpu,
    .run = gpu::chosen_segment_kernels<average>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(sparse_segment_sqrt_n){
    .op = "SparseSegmentSqrtN",
    .device = device_kind::gpu,
    .run = gpu::chosen_segment_kernels<over_root>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(sparse_segment_sum_with_num_segments){
    .op = "SparseSegmentSumWithNumSegments",
    .device = device_kind::gpu,
    .run = gpu::sparse_segment_kernels<addition>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(sparse_segment_mean_with_num_segments){
    .op = "SparseSegmentMeanWithNumSegments",
    .device = device_kind::gpu,
    .run = gpu::sparse_segment_kernels<average>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(sparse_segment_sqrt_n_with_num_segments){
    .op = "SparseSegmentSqrtNWithNumSegments",
    .device = device_kind::gpu,
    .run = gpu::sparse_segment_kernels<over_root>(types::floating),
};

} // namespace troupe::ops::sparse_segment_gpu

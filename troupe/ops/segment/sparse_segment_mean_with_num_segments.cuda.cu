#include "troupe/ops/segment/shared/segments.cuda.hpp"

namespace troupe::ops::sparse_segment_mean_with_num_segments_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(sparse_segment_mean_with_num_segments){
    .op = "SparseSegmentMeanWithNumSegments",
    .device = device_kind::gpu,
    .run = gpu::sparse_segment_kernels<average>(types::floating),
};

} // namespace troupe::ops::sparse_segment_mean_with_num_segments_gpu

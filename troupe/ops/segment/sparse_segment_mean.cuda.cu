#include "troupe/ops/segment/shared/segments.cuda.hpp"

namespace troupe::ops::sparse_segment_mean_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(sparse_segment_mean){
    .op = "SparseSegmentMean",
    .device = device_kind::gpu,
    .run = gpu::chosen_segment_kernels<average>(types::floating),
};

} // namespace troupe::ops::sparse_segment_mean_gpu

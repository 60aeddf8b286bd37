#include "troupe/ops/segment/shared/segments.cuda.hpp"

namespace troupe::ops::sparse_segment_sum_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(sparse_segment_sum){
    .op = "SparseSegmentSum",
    .device = device_kind::gpu,
    .run = gpu::chosen_segment_kernels<addition>(types::floating),
};

} // namespace troupe::ops::sparse_segment_sum_gpu

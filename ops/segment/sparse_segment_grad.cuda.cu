#include "troupe/ops/segment/shared/segments.cuda.hpp"

namespace troupe::ops::sparse_segment_grad_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(sparse_segment_sum_grad){
    .op = "SparseSegmentSumGrad",
    .device = device_kind::gpu,
    .run = gpu::segment_gradient_kernels<weigh_as_sum>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(sparse_segment_mean_grad){
    .op = "SparseSegmentMeanGrad",
    .device = device_kind::gpu,
    .run = gpu::segment_gradient_kernels<weigh_as_mean>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(sparse_segment_sqrt_n_grad){
    .op = "SparseSegmentSqrtNGrad",
    .device = device_kind::gpu,
    .run = gpu::segment_gradient_kernels<weigh_by_root>(types::floating),
};

} // namespace troupe::ops::sparse_segment_grad_gpu

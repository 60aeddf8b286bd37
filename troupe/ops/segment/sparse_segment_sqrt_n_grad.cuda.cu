#include "troupe/ops/segment/shared/segments.cuda.hpp"

namespace troupe::ops::sparse_segment_sqrt_n_grad_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(sparse_segment_sqrt_n_grad){
    .op = "SparseSegmentSqrtNGrad",
    .device = device_kind::gpu,
    .run = gpu::segment_gradient_kernels<weigh_by_root>(types::floating),
};

} // namespace troupe::ops::sparse_segment_sqrt_n_grad_gpu

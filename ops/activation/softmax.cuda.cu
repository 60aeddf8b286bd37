#include "troupe/ops/activation/softmax.cuda.hpp"

namespace troupe::ops::softmax_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(softmax){
    .op = "Softmax",
    .device = device_kind::gpu,
    .run = gpu::softmax_kernels<false>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(log_softmax){
    .op = "LogSoftmax",
    .device = device_kind::gpu,
    .run = gpu::softmax_kernels<true>(types::floating),
};

} // namespace troupe::ops::softmax_gpu

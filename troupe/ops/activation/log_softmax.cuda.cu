#include "troupe/ops/activation/softmax.cuda.hpp"

namespace troupe::ops::log_softmax_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(log_softmax){
    .op = "LogSoftmax",
    .device = device_kind::gpu,
    .run = gpu::softmax_kernels<true>(types::floating),
};

} // namespace troupe::ops::log_softmax_gpu

#include "troupe/ops/random/shared/random.cuda.hpp"

namespace troupe::ops::stateless_truncated_normal_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(stateless_truncated_normal){
    .op = "StatelessTruncatedNormal",
    .device = device_kind::gpu,
    .run = gpu::stateless_kernels<truncated_normal_draw>(types::floating),
    .key = "dtype",
};

} // namespace troupe::ops::stateless_truncated_normal_gpu

#include "troupe/ops/random/shared/random.cuda.hpp"

namespace troupe::ops::truncated_normal_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(truncated_normal){
    .op = "TruncatedNormal",
    .device = device_kind::gpu,
    .run = gpu::drawn_kernels<truncated_normal_draw>(types::floating),
    .key = "dtype",
    .prepare = prepare_stream,
};

} // namespace troupe::ops::truncated_normal_gpu

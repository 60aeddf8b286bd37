#include "troupe/ops/random/shared/random.cuda.hpp"

namespace troupe::ops::random_uniform_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(random_uniform){
    .op = "RandomUniform",
    .device = device_kind::gpu,
    .run = gpu::drawn_kernels<uniform_draw>(types::floating),
    .key = "dtype",
    .prepare = prepare_stream,
};

} // namespace troupe::ops::random_uniform_gpu

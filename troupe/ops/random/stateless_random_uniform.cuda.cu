#include "troupe/ops/random/shared/random.cuda.hpp"

namespace troupe::ops::stateless_random_uniform_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(stateless_random_uniform){
    .op = "StatelessRandomUniform",
    .device = device_kind::gpu,
    .run = gpu::stateless_kernels<uniform_draw>(types::floating),
    .key = "dtype",
};

} // namespace troupe::ops::stateless_random_uniform_gpu

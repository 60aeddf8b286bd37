#include "troupe/ops/random/shared/random.cuda.hpp"

namespace troupe::ops::random_standard_normal_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(random_standard_normal){
    .op = "RandomStandardNormal",
    .device = device_kind::gpu,
    .run = gpu::drawn_kernels<normal_draw>(types::floating),
    .key = "dtype",
    .prepare = prepare_stream,
};

} // namespace troupe::ops::random_standard_normal_gpu

#include "troupe/ops/random/shared/rejection.cuda.hpp"

namespace troupe::ops::random_poisson_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(random_poisson){
    .op = "RandomPoisson",
    .device = device_kind::gpu,
    .run = {{dtype::f16, gpu::reject<float16, gpu::poisson_draw>},
            {dtype::f32, gpu::reject<float, gpu::poisson_draw>},
            {dtype::f64, gpu::reject<double, gpu::poisson_draw>}},
    .key = "dtype",
    .prepare = prepare_stream,
    .state_format = &stream_position,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(random_poisson_v2){
    .op = "RandomPoissonV2",
    .device = device_kind::gpu,
    .run = {{dtype::f16, gpu::reject<float16, gpu::poisson_draw>},
            {dtype::f32, gpu::reject<float, gpu::poisson_draw>},
            {dtype::f64, gpu::reject<double, gpu::poisson_draw>},
            {dtype::i32, gpu::reject<int32_t, gpu::poisson_draw>},
            {dtype::i64, gpu::reject<int64_t, gpu::poisson_draw>}},
    .key = "dtype",
    .prepare = prepare_stream,
    .state_format = &stream_position,
};

} // namespace troupe::ops::random_poisson_gpu

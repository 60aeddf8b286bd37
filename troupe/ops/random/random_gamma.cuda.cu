#include "troupe/ops/random/shared/rejection.cuda.hpp"

namespace troupe::ops::random_gamma_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(random_gamma){
    .op = "RandomGamma",
    .device = device_kind::gpu,
    .run = {{dtype::f16, gpu::reject<float16, gpu::gamma_draw>},
            {dtype::f32, gpu::reject<float, gpu::gamma_draw>},
            {dtype::f64, gpu::reject<double, gpu::gamma_draw>}},
    .prepare = prepare_stream,
};

} // namespace troupe::ops::random_gamma_gpu

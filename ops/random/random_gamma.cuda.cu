#include "troupe/ops/random/shared/rejection.cuda.hpp"
#include "troupe/ops/special/shared/incomplete_functions.cuda.hpp"

namespace troupe::ops::random_gamma_gpu {
namespace {

struct random_gamma_grad_fn {
  template <class T>
  TROUPE_DEVICE T operator()(T a, T x) const {
    return static_cast<T>(special::gamma_sample_slope(a, x, gpu::log_gamma{}, gpu::digamma_of{}));
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(random_gamma){
    .op = "RandomGamma",
    .device = device_kind::gpu,
    .run = {{dtype::f16, gpu::reject<float16, gpu::gamma_draw>},
            {dtype::f32, gpu::reject<float, gpu::gamma_draw>},
            {dtype::f64, gpu::reject<double, gpu::gamma_draw>}},
    .prepare = prepare_stream,
    .state_format = &stream_position,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(random_gamma_grad){
    .op = "RandomGammaGrad",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<random_gamma_grad_fn>(type_list<float, double>{}),
};

} // namespace troupe::ops::random_gamma_gpu

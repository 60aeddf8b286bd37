#include "troupe/ops/special/shared/incomplete_functions.cuda.hpp"

namespace troupe::ops::igamma_gpu {
namespace {

struct igamma_fn {
  template <class T>
  TROUPE_DEVICE T operator()(T a, T x) const {
    return static_cast<T>(special::incomplete_gamma(true, a, x, gpu::log_gamma{}));
  }
};

struct igammac_fn {
  template <class T>
  TROUPE_DEVICE T operator()(T a, T x) const {
    return static_cast<T>(special::incomplete_gamma(false, a, x, gpu::log_gamma{}));
  }
};

struct igamma_grad_a_fn {
  template <class T>
  TROUPE_DEVICE T operator()(T a, T x) const {
    return static_cast<T>(
        special::incomplete_gamma_slope(a, x, gpu::log_gamma{}, gpu::digamma_of{}));
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(igamma){
    .op = "Igamma",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<igamma_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(igammac){
    .op = "Igammac",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<igammac_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(igamma_grad_a){
    .op = "IgammaGradA",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<igamma_grad_a_fn>(types::floating),
};

} // namespace troupe::ops::igamma_gpu

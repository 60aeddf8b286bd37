#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"
#include "troupe/ops/special/shared/zeta_function.hpp"

namespace troupe::ops::polygamma_gpu {
namespace {

struct polygamma_log_gamma {
  TROUPE_DEVICE double operator()(double x) const { return lgamma(x); }
};

struct polygamma_fn {
  template <class T>
  TROUPE_DEVICE T operator()(T a, T x) const {
    return static_cast<T>(a == T(0)
                              ? gpu::digamma(x)
                              : special::derived_digamma<double>(a, x, polygamma_log_gamma{}));
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(polygamma){
    .op = "Polygamma",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<polygamma_fn>(types::floating),
};

} // namespace troupe::ops::polygamma_gpu

#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"
#include "troupe/ops/special/shared/zeta_function.hpp"

namespace troupe::ops::gamma_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    lgamma_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return lgamma(x); });

TROUPE_SCALAR_FUNCTION(
    digamma_fn, template <class T> TROUPE_DEVICE T operator()(T x)
                    const { return static_cast<T>(gpu::digamma(x)); });

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

struct zeta_fn {
  template <class T>
  TROUPE_DEVICE T operator()(T x, T q) const {
    return static_cast<T>(special::zeta_of<double>(x, q));
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(lgamma){
    .op = "Lgamma",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<lgamma_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(digamma){
    .op = "Digamma",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<digamma_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(polygamma){
    .op = "Polygamma",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<polygamma_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(zeta){
    .op = "Zeta",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<zeta_fn>(types::floating),
};

} // namespace troupe::ops::gamma_gpu

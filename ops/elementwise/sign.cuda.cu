#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::sign_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    abs_fn, template <class T> TROUPE_DEVICE T operator()(T x) const {
      if constexpr (gpu::is_whole<T>)
        return x < 0 ? gpu::difference(T(0), x) : x;
      else
        return fabs(x);
    });

TROUPE_SCALAR_FUNCTION(
    neg_fn, template <class T> TROUPE_DEVICE T operator()(T x) const {
      if constexpr (gpu::is_whole<T>)
        return gpu::difference(T(0), x);
      else
        return -x;
    });

TROUPE_SCALAR_FUNCTION(
    sign_fn, template <class T> TROUPE_DEVICE T operator()(T x) const {
      return x > 0 ? T(1) : x < 0 ? T(-1) : x;
    });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(abs){
    .op = "Abs",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<abs_fn>(gpu::usual_types),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(neg){
    .op = "Neg",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<neg_fn>(gpu::usual_types),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(sign){
    .op = "Sign",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<sign_fn>(gpu::usual_types),
};

} // namespace troupe::ops::sign_gpu

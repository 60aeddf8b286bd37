#include "troupe/ops/activation/shared/selu.hpp"
#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::elu_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    elu_fn,
    template <class T> TROUPE_DEVICE T operator()(T x) const { return x < T(0) ? expm1(x) : x; });

TROUPE_SCALAR_FUNCTION(
    elu_grad_fn, template <class T> TROUPE_DEVICE T operator()(T gradient, T output)
                     const { return output < T(0) ? gradient * (output + T(1)) : gradient; });

struct selu_fn {
  template <class T>
  TROUPE_DEVICE T operator()(T x) const {
    constexpr auto scale = static_cast<T>(selu_scale), below = static_cast<T>(selu_scale_alpha);
    return x < T(0) ? below * expm1(x) : scale * x;
  }
};

struct selu_grad_fn {
  template <class T>
  TROUPE_DEVICE T operator()(T gradient, T output) const {
    constexpr auto scale = static_cast<T>(selu_scale), below = static_cast<T>(selu_scale_alpha);
    return gradient * (output < T(0) ? output + below : scale);
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(elu){
    .op = "Elu",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<elu_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(elu_grad){
    .op = "EluGrad",
    .device = device_kind::gpu,
    .run = gpu::paired_kernels<elu_grad_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(selu){
    .op = "Selu",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<selu_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(selu_grad){
    .op = "SeluGrad",
    .device = device_kind::gpu,
    .run = gpu::paired_kernels<selu_grad_fn>(types::floating),
};

} // namespace troupe::ops::elu_gpu

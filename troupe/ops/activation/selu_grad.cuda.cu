#include "troupe/ops/activation/selu.hpp"

#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::selu_grad_gpu {
namespace {

struct selu_grad_fn {
  template <class T>
  TROUPE_DEVICE T operator()(T gradient, T output) const {
    constexpr auto scale = static_cast<T>(selu_scale), below = static_cast<T>(selu_scale_alpha);
    return gradient * (output < T(0) ? output + below : scale);
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(selu_grad){
    .op = "SeluGrad",
    .device = device_kind::gpu,
    .run = gpu::paired_kernels<selu_grad_fn>(types::floating),
};

} // namespace troupe::ops::selu_grad_gpu

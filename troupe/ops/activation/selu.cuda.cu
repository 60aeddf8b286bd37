#include "troupe/ops/activation/selu.hpp"

#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::selu_gpu {
namespace {

struct selu_fn {
  template <class T>
  TROUPE_DEVICE T operator()(T x) const {
    constexpr auto scale = static_cast<T>(selu_scale), below = static_cast<T>(selu_scale_alpha);
    return x < T(0) ? below * expm1(x) : scale * x;
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(selu){
    .op = "Selu",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<selu_fn>(types::floating),
};

} // namespace troupe::ops::selu_gpu

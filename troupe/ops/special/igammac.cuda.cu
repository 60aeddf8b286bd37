#include "troupe/ops/special/shared/incomplete_functions.cuda.hpp"

namespace troupe::ops::igammac_gpu {
namespace {

struct igammac_fn {
  template <class T>
  TROUPE_DEVICE T operator()(T a, T x) const {
    return static_cast<T>(special::incomplete_gamma(false, a, x, gpu::log_gamma{}));
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(igammac){
    .op = "Igammac",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<igammac_fn>(types::floating),
};

} // namespace troupe::ops::igammac_gpu

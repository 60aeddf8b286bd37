#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"
#include "troupe/ops/special/shared/zeta_function.hpp"

namespace troupe::ops::zeta_gpu {
namespace {

struct zeta_fn {
  template <class T>
  TROUPE_DEVICE T operator()(T x, T q) const {
    return static_cast<T>(special::zeta_of<double>(x, q));
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(zeta){
    .op = "Zeta",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<zeta_fn>(types::floating),
};

} // namespace troupe::ops::zeta_gpu

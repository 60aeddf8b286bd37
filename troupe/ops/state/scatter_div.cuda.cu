#include "troupe/ops/state/shared/update.cuda.hpp"

namespace troupe::ops::scatter_div_gpu {
namespace {

struct scatter_quotient {
  template <class T>
  TROUPE_DEVICE T operator()(T a, T b) const {
    return a / b;
  }
};

} // namespace

// Whole numbers are left to processors, which look for zeros first.
extern constexpr kernel_def TROUPE_GPU_KERNEL(scatter_div){
    .op = "ScatterDiv",
    .device = device_kind::gpu,
    .run = gpu::scatter_kernels<scatter_quotient, false>(types::floating),
    .prepare = keep_scatter,
};

} // namespace troupe::ops::scatter_div_gpu

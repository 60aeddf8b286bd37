#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::round_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    round_fn, template <class T> TROUPE_DEVICE T operator()(T x) const {
      if constexpr (gpu::is_whole<T>)
        return x;
      else
        return rint(x);
    });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(round){
    .op = "Round",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<round_fn>(gpu::usual_types),
};

} // namespace troupe::ops::round_gpu

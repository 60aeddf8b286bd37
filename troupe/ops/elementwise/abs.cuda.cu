#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::abs_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    abs_fn, template <class T> TROUPE_DEVICE T operator()(T x) const {
      if constexpr (gpu::is_whole<T>)
        return x < 0 ? gpu::difference(T(0), x) : x;
      else
        return fabs(x);
    });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(abs){
    .op = "Abs",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<abs_fn>(gpu::usual_types),
};

} // namespace troupe::ops::abs_gpu

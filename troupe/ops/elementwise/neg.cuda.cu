#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::neg_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    neg_fn, template <class T> TROUPE_DEVICE T operator()(T x) const {
      if constexpr (gpu::is_whole<T>)
        return gpu::difference(T(0), x);
      else
        return -x;
    });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(neg){
    .op = "Neg",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<neg_fn>(gpu::usual_types),
};

} // namespace troupe::ops::neg_gpu

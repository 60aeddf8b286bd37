#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::square_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    square_fn,
    template <class T> TROUPE_DEVICE T operator()(T x) const { return gpu::product(x, x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(square){
    .op = "Square",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<square_fn>(gpu::usual_types),
};

} // namespace troupe::ops::square_gpu

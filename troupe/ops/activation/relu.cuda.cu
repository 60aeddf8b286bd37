#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::relu_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    relu_fn,
    template <class T> TROUPE_DEVICE T operator()(T x) const { return x <= T(0) ? T(0) : x; });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(relu){
    .op = "Relu",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<relu_fn>(gpu::usual_types),
};

} // namespace troupe::ops::relu_gpu

#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::sqrt_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    sqrt_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return sqrt(x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(sqrt){
    .op = "Sqrt",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<sqrt_fn>(types::floating),
};

} // namespace troupe::ops::sqrt_gpu

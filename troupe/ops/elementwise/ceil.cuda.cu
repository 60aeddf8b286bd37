#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::ceil_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    ceil_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return ceil(x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(ceil){
    .op = "Ceil",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<ceil_fn>(types::floating),
};

} // namespace troupe::ops::ceil_gpu

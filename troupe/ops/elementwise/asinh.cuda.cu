#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::asinh_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    asinh_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return asinh(x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(asinh){
    .op = "Asinh",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<asinh_fn>(types::floating),
};

} // namespace troupe::ops::asinh_gpu

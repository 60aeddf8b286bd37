#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::sin_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    sin_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return sin(x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(sin){
    .op = "Sin",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<sin_fn>(types::floating),
};

} // namespace troupe::ops::sin_gpu

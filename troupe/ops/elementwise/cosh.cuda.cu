#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::cosh_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    cosh_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return cosh(x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(cosh){
    .op = "Cosh",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<cosh_fn>(types::floating),
};

} // namespace troupe::ops::cosh_gpu

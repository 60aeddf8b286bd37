#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::acosh_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    acosh_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return acosh(x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(acosh){
    .op = "Acosh",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<acosh_fn>(types::floating),
};

} // namespace troupe::ops::acosh_gpu

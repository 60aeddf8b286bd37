#include "troupe/ops/elementwise/shared/argument_checks.cuda.hpp"

namespace troupe::ops::div_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    div_fn,
    template <class T> TROUPE_DEVICE T operator()(T a, T b) const { return gpu::quotient(a, b); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(div){
    .op = "Div",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels_unless<div_fn, zero_divisor>(gpu::usual_types),
};

} // namespace troupe::ops::div_gpu

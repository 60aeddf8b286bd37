#include "troupe/ops/elementwise/shared/argument_checks.cuda.hpp"

namespace troupe::ops::real_div_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    real_div_fn,
    template <class T> TROUPE_DEVICE T operator()(T a, T b) const { return gpu::quotient(a, b); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(real_div){
    .op = "RealDiv",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels_unless<real_div_fn, zero_divisor>(gpu::usual_types),
};

} // namespace troupe::ops::real_div_gpu

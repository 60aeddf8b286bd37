#include "troupe/ops/elementwise/shared/argument_checks.cuda.hpp"

namespace troupe::ops::pow_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    pow_fn,
    template <class T> TROUPE_DEVICE T operator()(T x, T y) const { return gpu::power(x, y); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(pow){
    .op = "Pow",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels_unless<pow_fn, negative_power>(gpu::usual_types),
};

} // namespace troupe::ops::pow_gpu

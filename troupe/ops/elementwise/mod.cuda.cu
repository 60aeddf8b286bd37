#include "troupe/ops/elementwise/shared/argument_checks.cuda.hpp"

namespace troupe::ops::mod_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    mod_fn,
    template <class T> TROUPE_DEVICE T operator()(T a, T b) const { return gpu::remainder(a, b); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(mod){
    .op = "Mod",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels_unless<mod_fn, zero_divisor>(gpu::usual_types),
};

} // namespace troupe::ops::mod_gpu

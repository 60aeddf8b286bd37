#include "troupe/ops/elementwise/shared/argument_checks.cuda.hpp"

namespace troupe::ops::remainder_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    mod_fn,
    template <class T> TROUPE_DEVICE T operator()(T a, T b) const { return gpu::remainder(a, b); });

TROUPE_SCALAR_FUNCTION(
    truncate_mod_fn,
    template <class T> TROUPE_DEVICE T operator()(T a, T b) const { return gpu::remainder(a, b); });

TROUPE_SCALAR_FUNCTION(
    floor_mod_fn, template <class T> TROUPE_DEVICE T operator()(T a, T b)
                      const { return gpu::floored_remainder(a, b); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(mod){
    .op = "Mod",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels_unless<mod_fn, zero_divisor>(gpu::usual_types),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(truncate_mod){
    .op = "TruncateMod",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels_unless<truncate_mod_fn, zero_divisor>(gpu::usual_types),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(floor_mod){
    .op = "FloorMod",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels_unless<floor_mod_fn, zero_divisor>(gpu::usual_types),
};

} // namespace troupe::ops::remainder_gpu

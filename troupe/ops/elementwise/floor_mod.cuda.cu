#include "troupe/ops/elementwise/shared/argument_checks.cuda.hpp"

namespace troupe::ops::floor_mod_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    floor_mod_fn, template <class T> TROUPE_DEVICE T operator()(T a, T b)
                      const { return gpu::floored_remainder(a, b); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(floor_mod){
    .op = "FloorMod",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels_unless<floor_mod_fn, zero_divisor>(gpu::usual_types),
};

} // namespace troupe::ops::floor_mod_gpu

#include "troupe/ops/elementwise/shared/refusals.cuda.hpp"

namespace troupe::ops::truncate_mod_gpu {
namespace {

TROUPE_LANE(
    truncate_mod_lane,
    template <class T> TROUPE_DEVICE T operator()(T a, T b) const { return gpu::remainder(a, b); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(truncate_mod){
    .op = "TruncateMod",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels_unless<truncate_mod_lane, zero_divisor>(gpu::usual_types),
};

} // namespace troupe::ops::truncate_mod_gpu

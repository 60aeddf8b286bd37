#include "troupe/ops/elementwise/shared/argument_checks.cuda.hpp"

namespace troupe::ops::floor_div_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    floor_div_fn, template <class T> TROUPE_DEVICE T operator()(T a, T b)
                      const { return gpu::floored_quotient(a, b); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(floor_div){
    .op = "FloorDiv",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels_unless<floor_div_fn, zero_divisor>(gpu::usual_types),
};

} // namespace troupe::ops::floor_div_gpu

#include "troupe/ops/elementwise/shared/argument_checks.cuda.hpp"

namespace troupe::ops::truncate_div_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    truncate_div_fn, template <class T> TROUPE_DEVICE T operator()(T a, T b)
                         const { return gpu::truncated_quotient(a, b); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(truncate_div){
    .op = "TruncateDiv",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels_unless<truncate_div_fn, zero_divisor>(gpu::usual_types),
};

} // namespace troupe::ops::truncate_div_gpu

#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::greater_equal_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    greater_equal_fn,
    template <class T> TROUPE_DEVICE bool operator()(T a, T b) const { return a >= b; });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(greater_equal){
    .op = "GreaterEqual",
    .device = device_kind::gpu,
    .run = gpu::comparison_kernels<greater_equal_fn>(types::real_numbers),
};

} // namespace troupe::ops::greater_equal_gpu

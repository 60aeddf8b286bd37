#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::minimum_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    minimum_fn,
    template <class T> TROUPE_DEVICE T operator()(T a, T b) const { return gpu::smaller(b, a); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(minimum){
    .op = "Minimum",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<minimum_fn>(types::real_numbers),
};

} // namespace troupe::ops::minimum_gpu

#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::maximum_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    maximum_fn,
    template <class T> TROUPE_DEVICE T operator()(T a, T b) const { return gpu::larger(b, a); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(maximum){
    .op = "Maximum",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<maximum_fn>(types::real_numbers),
};

} // namespace troupe::ops::maximum_gpu

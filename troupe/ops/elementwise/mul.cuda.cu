#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::mul_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    mul_fn,
    template <class T> TROUPE_DEVICE T operator()(T a, T b) const { return gpu::product(a, b); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(mul){
    .op = "Mul",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<mul_fn>(types::real_numbers),
};

} // namespace troupe::ops::mul_gpu

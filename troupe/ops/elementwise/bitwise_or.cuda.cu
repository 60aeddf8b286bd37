#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::bitwise_or_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    bitwise_or_fn, template <class T> TROUPE_DEVICE T operator()(T a, T b)
                       const { return static_cast<T>(a | b); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(bitwise_or){
    .op = "BitwiseOr",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<bitwise_or_fn>(types::integers),
};

} // namespace troupe::ops::bitwise_or_gpu

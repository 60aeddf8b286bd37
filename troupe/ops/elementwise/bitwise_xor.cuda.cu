#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::bitwise_xor_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    bitwise_xor_fn, template <class T> TROUPE_DEVICE T operator()(T a, T b)
                        const { return static_cast<T>(a ^ b); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(bitwise_xor){
    .op = "BitwiseXor",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<bitwise_xor_fn>(types::integers),
};

} // namespace troupe::ops::bitwise_xor_gpu

#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::invert_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    invert_fn,
    template <class T> TROUPE_DEVICE T operator()(T x) const { return static_cast<T>(~x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(invert){
    .op = "Invert",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<invert_fn>(types::integers),
};

} // namespace troupe::ops::invert_gpu

#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::rsqrt_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    rsqrt_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return T(1) / sqrt(x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(rsqrt){
    .op = "Rsqrt",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<rsqrt_fn>(types::floating),
};

} // namespace troupe::ops::rsqrt_gpu

#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::rsqrt_grad_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    rsqrt_grad_fn, template <class T> TROUPE_DEVICE T operator()(T y, T dy)
                       const { return dy == T(0) ? T(0) : T(-0.5) * (dy * y) * (y * y); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(rsqrt_grad){
    .op = "RsqrtGrad",
    .device = device_kind::gpu,
    .run = gpu::paired_kernels<rsqrt_grad_fn>(types::floating),
};

} // namespace troupe::ops::rsqrt_grad_gpu

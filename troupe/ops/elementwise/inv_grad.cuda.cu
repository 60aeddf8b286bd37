#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::inv_grad_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    inv_grad_fn, template <class T> TROUPE_DEVICE T operator()(T y, T dy)
                     const { return dy == T(0) ? T(0) : -dy * y * y; });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(inv_grad){
    .op = "InvGrad",
    .device = device_kind::gpu,
    .run = gpu::paired_kernels<inv_grad_fn>(types::floating),
};

} // namespace troupe::ops::inv_grad_gpu

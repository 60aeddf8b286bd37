#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::reciprocal_grad_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    reciprocal_grad_fn, template <class T> TROUPE_DEVICE T operator()(T y, T dy)
                            const { return dy == T(0) ? T(0) : -dy * y * y; });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(reciprocal_grad){
    .op = "ReciprocalGrad",
    .device = device_kind::gpu,
    .run = gpu::paired_kernels<reciprocal_grad_fn>(types::floating),
};

} // namespace troupe::ops::reciprocal_grad_gpu

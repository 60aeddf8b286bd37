#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::reciprocal_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    reciprocal_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return T(1) / x; });

TROUPE_SCALAR_FUNCTION(
    reciprocal_grad_fn, template <class T> TROUPE_DEVICE T operator()(T y, T dy)
                            const { return dy == T(0) ? T(0) : -dy * y * y; });

TROUPE_SCALAR_FUNCTION(
    inv_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return T(1) / x; });

TROUPE_SCALAR_FUNCTION(
    inv_grad_fn, template <class T> TROUPE_DEVICE T operator()(T y, T dy)
                     const { return dy == T(0) ? T(0) : -dy * y * y; });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(reciprocal){
    .op = "Reciprocal",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<reciprocal_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(reciprocal_grad){
    .op = "ReciprocalGrad",
    .device = device_kind::gpu,
    .run = gpu::paired_kernels<reciprocal_grad_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(inv){
    .op = "Inv",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<inv_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(inv_grad){
    .op = "InvGrad",
    .device = device_kind::gpu,
    .run = gpu::paired_kernels<inv_grad_fn>(types::floating),
};

} // namespace troupe::ops::reciprocal_gpu

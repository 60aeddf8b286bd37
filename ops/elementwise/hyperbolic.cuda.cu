#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::hyperbolic_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    sinh_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return sinh(x); });

TROUPE_SCALAR_FUNCTION(
    cosh_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return cosh(x); });

TROUPE_SCALAR_FUNCTION(
    tanh_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return tanh(x); });

TROUPE_SCALAR_FUNCTION(
    tanh_grad_fn,
    template <class T> TROUPE_DEVICE T operator()(T y, T dy) const { return dy * (T(1) - y * y); });

TROUPE_SCALAR_FUNCTION(
    asinh_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return asinh(x); });

TROUPE_SCALAR_FUNCTION(
    acosh_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return acosh(x); });

TROUPE_SCALAR_FUNCTION(
    atanh_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return atanh(x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(sinh){
    .op = "Sinh",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<sinh_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(cosh){
    .op = "Cosh",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<cosh_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(tanh){
    .op = "Tanh",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<tanh_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(tanh_grad){
    .op = "TanhGrad",
    .device = device_kind::gpu,
    .run = gpu::paired_kernels<tanh_grad_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(asinh){
    .op = "Asinh",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<asinh_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(acosh){
    .op = "Acosh",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<acosh_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(atanh){
    .op = "Atanh",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<atanh_fn>(types::floating),
};

} // namespace troupe::ops::hyperbolic_gpu

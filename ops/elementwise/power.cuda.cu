#include "troupe/ops/elementwise/shared/argument_checks.cuda.hpp"
#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::power_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    pow_fn,
    template <class T> TROUPE_DEVICE T operator()(T x, T y) const { return gpu::power(x, y); });

TROUPE_SCALAR_FUNCTION(
    square_fn,
    template <class T> TROUPE_DEVICE T operator()(T x) const { return gpu::product(x, x); });

TROUPE_SCALAR_FUNCTION(
    squared_difference_fn, template <class T> TROUPE_DEVICE T operator()(T a, T b) const {
      auto d = gpu::difference(a, b);
      return gpu::product(d, d);
    });

TROUPE_SCALAR_FUNCTION(
    sqrt_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return sqrt(x); });

TROUPE_SCALAR_FUNCTION(
    sqrt_grad_fn, template <class T> TROUPE_DEVICE T operator()(T y, T dy)
                      const { return dy == T(0) ? T(0) : T(0.5) * dy / y; });

TROUPE_SCALAR_FUNCTION(
    rsqrt_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return T(1) / sqrt(x); });

TROUPE_SCALAR_FUNCTION(
    rsqrt_grad_fn, template <class T> TROUPE_DEVICE T operator()(T y, T dy)
                       const { return dy == T(0) ? T(0) : T(-0.5) * (dy * y) * (y * y); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(pow){
    .op = "Pow",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels_unless<pow_fn, negative_power>(gpu::usual_types),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(square){
    .op = "Square",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<square_fn>(gpu::usual_types),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(squared_difference){
    .op = "SquaredDifference",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<squared_difference_fn>(gpu::usual_types),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(sqrt){
    .op = "Sqrt",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<sqrt_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(sqrt_grad){
    .op = "SqrtGrad",
    .device = device_kind::gpu,
    .run = gpu::paired_kernels<sqrt_grad_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(rsqrt){
    .op = "Rsqrt",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<rsqrt_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(rsqrt_grad){
    .op = "RsqrtGrad",
    .device = device_kind::gpu,
    .run = gpu::paired_kernels<rsqrt_grad_fn>(types::floating),
};

} // namespace troupe::ops::power_gpu

#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::trigonometric_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    sin_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return sin(x); });

TROUPE_SCALAR_FUNCTION(
    cos_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return cos(x); });

TROUPE_SCALAR_FUNCTION(
    tan_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return tan(x); });

TROUPE_SCALAR_FUNCTION(
    asin_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return asin(x); });

TROUPE_SCALAR_FUNCTION(
    acos_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return acos(x); });

TROUPE_SCALAR_FUNCTION(
    atan_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return atan(x); });

TROUPE_SCALAR_FUNCTION(
    atan2_fn,
    template <class T> TROUPE_DEVICE T operator()(T y, T x) const { return atan2(y, x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(sin){
    .op = "Sin",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<sin_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(cos){
    .op = "Cos",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<cos_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(tan){
    .op = "Tan",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<tan_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(asin){
    .op = "Asin",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<asin_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(acos){
    .op = "Acos",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<acos_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(atan){
    .op = "Atan",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<atan_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(atan2){
    .op = "Atan2",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<atan2_fn>(types::floating),
};

} // namespace troupe::ops::trigonometric_gpu

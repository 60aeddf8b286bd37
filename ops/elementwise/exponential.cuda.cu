#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::exponential_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    exp_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return exp(x); });

TROUPE_SCALAR_FUNCTION(
    expm1_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return expm1(x); });

TROUPE_SCALAR_FUNCTION(
    log_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return log(x); });

TROUPE_SCALAR_FUNCTION(
    log1p_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return log1p(x); });

TROUPE_SCALAR_FUNCTION(
    xdivy_fn, template <class T> TROUPE_DEVICE T operator()(T x, T y)
                  const { return x == T(0) ? T(0) : x / y; });

TROUPE_SCALAR_FUNCTION(
    xlogy_fn, template <class T> TROUPE_DEVICE T operator()(T x, T y)
                  const { return x == T(0) ? T(0) : x * log(y); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(exp){
    .op = "Exp",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<exp_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(expm1){
    .op = "Expm1",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<expm1_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(log){
    .op = "Log",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<log_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(log1p){
    .op = "Log1p",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<log1p_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(xdivy){
    .op = "Xdivy",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<xdivy_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(xlogy){
    .op = "Xlogy",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<xlogy_fn>(types::floating),
};

} // namespace troupe::ops::exponential_gpu

#include "troupe/ops/elementwise/shared/argument_checks.cuda.hpp"
#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::division_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    div_fn,
    template <class T> TROUPE_DEVICE T operator()(T a, T b) const { return gpu::quotient(a, b); });

TROUPE_SCALAR_FUNCTION(
    real_div_fn,
    template <class T> TROUPE_DEVICE T operator()(T a, T b) const { return gpu::quotient(a, b); });

TROUPE_SCALAR_FUNCTION(
    div_no_nan_fn, template <class T> TROUPE_DEVICE T operator()(T a, T b)
                       const { return b == T(0) ? T(0) : a / b; });

TROUPE_SCALAR_FUNCTION(
    floor_div_fn, template <class T> TROUPE_DEVICE T operator()(T a, T b)
                      const { return gpu::floored_quotient(a, b); });

TROUPE_SCALAR_FUNCTION(
    truncate_div_fn, template <class T> TROUPE_DEVICE T operator()(T a, T b)
                         const { return gpu::truncated_quotient(a, b); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(div){
    .op = "Div",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels_unless<div_fn, zero_divisor>(gpu::usual_types),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(real_div){
    .op = "RealDiv",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels_unless<real_div_fn, zero_divisor>(gpu::usual_types),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(div_no_nan){
    .op = "DivNoNan",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<div_no_nan_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(floor_div){
    .op = "FloorDiv",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels_unless<floor_div_fn, zero_divisor>(gpu::usual_types),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(truncate_div){
    .op = "TruncateDiv",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels_unless<truncate_div_fn, zero_divisor>(gpu::usual_types),
};

} // namespace troupe::ops::division_gpu

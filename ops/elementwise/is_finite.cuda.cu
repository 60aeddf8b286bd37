#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::is_finite_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    is_finite_fn,
    template <class T> TROUPE_DEVICE bool operator()(T x) const { return isfinite(x); });

TROUPE_SCALAR_FUNCTION(
    is_inf_fn, template <class T> TROUPE_DEVICE bool operator()(T x) const { return isinf(x); });

TROUPE_SCALAR_FUNCTION(
    is_nan_fn, template <class T> TROUPE_DEVICE bool operator()(T x) const { return isnan(x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(is_finite){
    .op = "IsFinite",
    .device = device_kind::gpu,
    .run = gpu::test_kernels<is_finite_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(is_inf){
    .op = "IsInf",
    .device = device_kind::gpu,
    .run = gpu::test_kernels<is_inf_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(is_nan){
    .op = "IsNan",
    .device = device_kind::gpu,
    .run = gpu::test_kernels<is_nan_fn>(types::floating),
};

} // namespace troupe::ops::is_finite_gpu

#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::erf_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    erf_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return erf(x); });

TROUPE_SCALAR_FUNCTION(
    erfc_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return erfc(x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(erf){
    .op = "Erf",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<erf_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(erfc){
    .op = "Erfc",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<erfc_fn>(types::floating),
};

} // namespace troupe::ops::erf_gpu

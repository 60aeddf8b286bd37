#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::is_finite_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    is_finite_fn,
    template <class T> TROUPE_DEVICE bool operator()(T x) const { return isfinite(x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(is_finite){
    .op = "IsFinite",
    .device = device_kind::gpu,
    .run = gpu::test_kernels<is_finite_fn>(types::floating),
};

} // namespace troupe::ops::is_finite_gpu

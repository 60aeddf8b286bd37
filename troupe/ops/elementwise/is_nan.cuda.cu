#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::is_nan_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    is_nan_fn, template <class T> TROUPE_DEVICE bool operator()(T x) const { return isnan(x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(is_nan){
    .op = "IsNan",
    .device = device_kind::gpu,
    .run = gpu::test_kernels<is_nan_fn>(types::floating),
};

} // namespace troupe::ops::is_nan_gpu

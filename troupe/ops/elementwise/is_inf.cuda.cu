#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::is_inf_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    is_inf_fn, template <class T> TROUPE_DEVICE bool operator()(T x) const { return isinf(x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(is_inf){
    .op = "IsInf",
    .device = device_kind::gpu,
    .run = gpu::test_kernels<is_inf_fn>(types::floating),
};

} // namespace troupe::ops::is_inf_gpu

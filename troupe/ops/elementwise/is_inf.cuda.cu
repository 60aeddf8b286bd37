#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::is_inf_gpu {
namespace {

TROUPE_LANE(
    is_inf_lane, template <class T> TROUPE_DEVICE bool operator()(T x) const { return isinf(x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(is_inf){
    .op = "IsInf",
    .device = device_kind::gpu,
    .run = gpu::test_kernels<is_inf_lane>(types::floating),
};

} // namespace troupe::ops::is_inf_gpu

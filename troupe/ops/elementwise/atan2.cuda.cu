#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::atan2_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    atan2_fn,
    template <class T> TROUPE_DEVICE T operator()(T y, T x) const { return atan2(y, x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(atan2){
    .op = "Atan2",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<atan2_fn>(types::floating),
};

} // namespace troupe::ops::atan2_gpu

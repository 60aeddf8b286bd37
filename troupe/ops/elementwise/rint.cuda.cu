#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::rint_gpu {
namespace {

TROUPE_LANE(
    rint_lane, template <class T> TROUPE_DEVICE T operator()(T x) const { return rint(x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(rint){
    .op = "Rint",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<rint_lane>(types::floating),
};

} // namespace troupe::ops::rint_gpu

#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::erf_gpu {
namespace {

TROUPE_LANE(
    erf_lane, template <class T> TROUPE_DEVICE T operator()(T x) const { return erf(x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(erf){
    .op = "Erf",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<erf_lane>(types::floating),
};

} // namespace troupe::ops::erf_gpu

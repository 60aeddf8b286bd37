#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::atan_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    atan_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return atan(x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(atan){
    .op = "Atan",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<atan_fn>(types::floating),
};

} // namespace troupe::ops::atan_gpu

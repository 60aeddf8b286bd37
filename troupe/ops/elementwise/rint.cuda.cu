#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::rint_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    rint_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return rint(x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(rint){
    .op = "Rint",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<rint_fn>(types::floating),
};

} // namespace troupe::ops::rint_gpu

#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::sinh_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    sinh_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return sinh(x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(sinh){
    .op = "Sinh",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<sinh_fn>(types::floating),
};

} // namespace troupe::ops::sinh_gpu

#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::tan_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    tan_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return tan(x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(tan){
    .op = "Tan",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<tan_fn>(types::floating),
};

} // namespace troupe::ops::tan_gpu

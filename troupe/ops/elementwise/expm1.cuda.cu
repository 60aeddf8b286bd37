#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::expm1_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    expm1_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return expm1(x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(expm1){
    .op = "Expm1",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<expm1_fn>(types::floating),
};

} // namespace troupe::ops::expm1_gpu

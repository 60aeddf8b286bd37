#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::reciprocal_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    reciprocal_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return T(1) / x; });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(reciprocal){
    .op = "Reciprocal",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<reciprocal_fn>(types::floating),
};

} // namespace troupe::ops::reciprocal_gpu

#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::lgamma_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    lgamma_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return lgamma(x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(lgamma){
    .op = "Lgamma",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<lgamma_fn>(types::floating),
};

} // namespace troupe::ops::lgamma_gpu

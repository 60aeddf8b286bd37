#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::log1p_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    log1p_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return log1p(x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(log1p){
    .op = "Log1p",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<log1p_fn>(types::floating),
};

} // namespace troupe::ops::log1p_gpu

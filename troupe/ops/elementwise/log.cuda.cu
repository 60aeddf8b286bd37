#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::log_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    log_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return log(x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(log){
    .op = "Log",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<log_fn>(types::floating),
};

} // namespace troupe::ops::log_gpu

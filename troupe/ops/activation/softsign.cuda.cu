#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::softsign_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    softsign_fn,
    template <class T> TROUPE_DEVICE T operator()(T x) const { return x / (T(1) + fabs(x)); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(softsign){
    .op = "Softsign",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<softsign_fn>(types::floating),
};

} // namespace troupe::ops::softsign_gpu

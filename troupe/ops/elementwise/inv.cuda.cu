#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::inv_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    inv_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return T(1) / x; });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(inv){
    .op = "Inv",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<inv_fn>(types::floating),
};

} // namespace troupe::ops::inv_gpu

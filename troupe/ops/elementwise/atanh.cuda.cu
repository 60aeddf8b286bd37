#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::atanh_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    atanh_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return atanh(x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(atanh){
    .op = "Atanh",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<atanh_fn>(types::floating),
};

} // namespace troupe::ops::atanh_gpu

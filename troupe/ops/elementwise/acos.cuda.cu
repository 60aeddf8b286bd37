#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::acos_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    acos_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return acos(x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(acos){
    .op = "Acos",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<acos_fn>(types::floating),
};

} // namespace troupe::ops::acos_gpu

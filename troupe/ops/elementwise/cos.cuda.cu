#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::cos_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    cos_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return cos(x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(cos){
    .op = "Cos",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<cos_fn>(types::floating),
};

} // namespace troupe::ops::cos_gpu

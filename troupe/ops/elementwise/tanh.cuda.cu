#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::tanh_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    tanh_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return tanh(x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(tanh){
    .op = "Tanh",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<tanh_fn>(types::floating),
};

} // namespace troupe::ops::tanh_gpu

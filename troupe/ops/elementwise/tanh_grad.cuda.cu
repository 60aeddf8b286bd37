#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::tanh_grad_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    tanh_grad_fn,
    template <class T> TROUPE_DEVICE T operator()(T y, T dy) const { return dy * (T(1) - y * y); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(tanh_grad){
    .op = "TanhGrad",
    .device = device_kind::gpu,
    .run = gpu::paired_kernels<tanh_grad_fn>(types::floating),
};

} // namespace troupe::ops::tanh_grad_gpu

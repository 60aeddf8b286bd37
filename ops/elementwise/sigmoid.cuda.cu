#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::sigmoid_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    sigmoid_fn,
    template <class T> TROUPE_DEVICE T operator()(T x) const { return gpu::logistic(x); });

TROUPE_SCALAR_FUNCTION(
    sigmoid_grad_fn,
    template <class T> TROUPE_DEVICE T operator()(T y, T dy) const { return dy * y * (T(1) - y); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(sigmoid){
    .op = "Sigmoid",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<sigmoid_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(sigmoid_grad){
    .op = "SigmoidGrad",
    .device = device_kind::gpu,
    .run = gpu::paired_kernels<sigmoid_grad_fn>(types::floating),
};

} // namespace troupe::ops::sigmoid_gpu

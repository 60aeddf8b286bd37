#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::softplus_grad_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    softplus_grad_fn, template <class T> TROUPE_DEVICE T operator()(T gradient, T feature)
                          const { return gradient / (T(1) + exp(-feature)); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(softplus_grad){
    .op = "SoftplusGrad",
    .device = device_kind::gpu,
    .run = gpu::paired_kernels<softplus_grad_fn>(types::floating),
};

} // namespace troupe::ops::softplus_grad_gpu

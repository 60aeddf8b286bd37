#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::elu_grad_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    elu_grad_fn, template <class T> TROUPE_DEVICE T operator()(T gradient, T output)
                     const { return output < T(0) ? gradient * (output + T(1)) : gradient; });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(elu_grad){
    .op = "EluGrad",
    .device = device_kind::gpu,
    .run = gpu::paired_kernels<elu_grad_fn>(types::floating),
};

} // namespace troupe::ops::elu_grad_gpu

#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::relu_grad_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    relu_grad_fn, template <class T> TROUPE_DEVICE T operator()(T gradient, T feature)
                      const { return feature > T(0) ? gradient : T(0); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(relu_grad){
    .op = "ReluGrad",
    .device = device_kind::gpu,
    .run = gpu::paired_kernels<relu_grad_fn>(gpu::usual_types),
};

} // namespace troupe::ops::relu_grad_gpu

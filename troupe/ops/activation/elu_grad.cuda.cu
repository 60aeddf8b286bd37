#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::elu_grad_gpu {
namespace {

TROUPE_LANE(
    elu_grad_lane, template <class T> TROUPE_DEVICE T operator()(T gradient, T output)
                       const { return output < T(0) ? gradient * (output + T(1)) : gradient; });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(elu_grad){
    .op = "EluGrad",
    .device = device_kind::gpu,
    .run = gpu::paired_kernels<elu_grad_lane>(types::floating),
};

} // namespace troupe::ops::elu_grad_gpu

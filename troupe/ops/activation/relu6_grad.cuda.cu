#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::relu6_grad_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    relu6_grad_fn, template <class T> TROUPE_DEVICE T operator()(T gradient, T feature)
                       const { return feature > T(0) && feature < T(6) ? gradient : T(0); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(relu6_grad){
    .op = "Relu6Grad",
    .device = device_kind::gpu,
    .run = gpu::paired_kernels<relu6_grad_fn>(gpu::usual_types),
};

} // namespace troupe::ops::relu6_grad_gpu

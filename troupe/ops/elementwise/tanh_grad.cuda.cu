#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::tanh_grad_gpu {
namespace {

TROUPE_LANE(
    tanh_grad_lane,
    template <class T> TROUPE_DEVICE T operator()(T y, T dy) const { return dy * (T(1) - y * y); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(tanh_grad){
    .op = "TanhGrad",
    .device = device_kind::gpu,
    .run = gpu::paired_kernels<tanh_grad_lane>(types::floating),
};

} // namespace troupe::ops::tanh_grad_gpu

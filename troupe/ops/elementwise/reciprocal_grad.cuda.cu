#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::reciprocal_grad_gpu {
namespace {

TROUPE_LANE(
    reciprocal_grad_lane, template <class T> TROUPE_DEVICE T operator()(T y, T dy)
                              const { return dy == T(0) ? T(0) : -dy * y * y; });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(reciprocal_grad){
    .op = "ReciprocalGrad",
    .device = device_kind::gpu,
    .run = gpu::paired_kernels<reciprocal_grad_lane>(types::floating),
};

} // namespace troupe::ops::reciprocal_grad_gpu

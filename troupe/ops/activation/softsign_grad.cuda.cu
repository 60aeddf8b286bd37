#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::softsign_grad_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    softsign_grad_fn, template <class T> TROUPE_DEVICE T operator()(T gradient, T feature) const {
      auto root = T(1) + fabs(feature);
      return gradient / (root * root);
    });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(softsign_grad){
    .op = "SoftsignGrad",
    .device = device_kind::gpu,
    .run = gpu::paired_kernels<softsign_grad_fn>(types::floating),
};

} // namespace troupe::ops::softsign_grad_gpu

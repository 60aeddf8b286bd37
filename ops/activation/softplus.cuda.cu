#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::softplus_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    softplus_fn, template <class T> TROUPE_DEVICE T operator()(T x)
                     const { return (x < T(0) ? T(0) : x) + log1p(exp(x < T(0) ? x : -x)); });

TROUPE_SCALAR_FUNCTION(
    softplus_grad_fn, template <class T> TROUPE_DEVICE T operator()(T gradient, T feature)
                          const { return gradient / (T(1) + exp(-feature)); });

TROUPE_SCALAR_FUNCTION(
    softsign_fn,
    template <class T> TROUPE_DEVICE T operator()(T x) const { return x / (T(1) + fabs(x)); });

TROUPE_SCALAR_FUNCTION(
    softsign_grad_fn, template <class T> TROUPE_DEVICE T operator()(T gradient, T feature) const {
      auto root = T(1) + fabs(feature);
      return gradient / (root * root);
    });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(softplus){
    .op = "Softplus",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<softplus_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(softplus_grad){
    .op = "SoftplusGrad",
    .device = device_kind::gpu,
    .run = gpu::paired_kernels<softplus_grad_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(softsign){
    .op = "Softsign",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<softsign_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(softsign_grad){
    .op = "SoftsignGrad",
    .device = device_kind::gpu,
    .run = gpu::paired_kernels<softsign_grad_fn>(types::floating),
};

} // namespace troupe::ops::softplus_gpu

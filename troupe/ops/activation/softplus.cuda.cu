#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::softplus_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    softplus_fn, template <class T> TROUPE_DEVICE T operator()(T x)
                     const { return (x < T(0) ? T(0) : x) + log1p(exp(x < T(0) ? x : -x)); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(softplus){
    .op = "Softplus",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<softplus_fn>(types::floating),
};

} // namespace troupe::ops::softplus_gpu

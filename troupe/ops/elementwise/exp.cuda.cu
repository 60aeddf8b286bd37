#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::exp_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    exp_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return exp(x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(exp){
    .op = "Exp",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<exp_fn>(types::floating),
};

} // namespace troupe::ops::exp_gpu

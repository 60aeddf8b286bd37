#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::elu_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    elu_fn,
    template <class T> TROUPE_DEVICE T operator()(T x) const { return x < T(0) ? expm1(x) : x; });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(elu){
    .op = "Elu",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<elu_fn>(types::floating),
};

} // namespace troupe::ops::elu_gpu

#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::sigmoid_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    sigmoid_fn,
    template <class T> TROUPE_DEVICE T operator()(T x) const { return gpu::logistic(x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(sigmoid){
    .op = "Sigmoid",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<sigmoid_fn>(types::floating),
};

} // namespace troupe::ops::sigmoid_gpu

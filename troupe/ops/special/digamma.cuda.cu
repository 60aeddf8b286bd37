#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::digamma_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    digamma_fn, template <class T> TROUPE_DEVICE T operator()(T x)
                    const { return static_cast<T>(gpu::digamma(x)); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(digamma){
    .op = "Digamma",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<digamma_fn>(types::floating),
};

} // namespace troupe::ops::digamma_gpu

#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::asin_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    asin_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return asin(x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(asin){
    .op = "Asin",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<asin_fn>(types::floating),
};

} // namespace troupe::ops::asin_gpu

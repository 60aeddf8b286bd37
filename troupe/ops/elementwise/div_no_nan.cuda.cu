#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::div_no_nan_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    div_no_nan_fn, template <class T> TROUPE_DEVICE T operator()(T a, T b)
                       const { return b == T(0) ? T(0) : a / b; });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(div_no_nan){
    .op = "DivNoNan",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<div_no_nan_fn>(types::floating),
};

} // namespace troupe::ops::div_no_nan_gpu

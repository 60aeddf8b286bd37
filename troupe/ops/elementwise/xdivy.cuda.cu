#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::xdivy_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    xdivy_fn, template <class T> TROUPE_DEVICE T operator()(T x, T y)
                  const { return x == T(0) ? T(0) : x / y; });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(xdivy){
    .op = "Xdivy",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<xdivy_fn>(types::floating),
};

} // namespace troupe::ops::xdivy_gpu

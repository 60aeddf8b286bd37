#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::xlogy_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    xlogy_fn, template <class T> TROUPE_DEVICE T operator()(T x, T y)
                  const { return x == T(0) ? T(0) : x * log(y); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(xlogy){
    .op = "Xlogy",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<xlogy_fn>(types::floating),
};

} // namespace troupe::ops::xlogy_gpu

#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::right_shift_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    right_shift_fn, template <class T> TROUPE_DEVICE T operator()(T x, T y)
                        const { return static_cast<T>(x >> gpu::shift_distance(y)); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(right_shift){
    .op = "RightShift",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<right_shift_fn>(types::integers),
};

} // namespace troupe::ops::right_shift_gpu

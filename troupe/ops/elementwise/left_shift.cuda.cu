#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::left_shift_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    left_shift_fn, template <class T> TROUPE_DEVICE T operator()(T x, T y) const {
      return static_cast<T>(static_cast<typename gpu::unsigned_of<T>::type>(x)
                            << gpu::shift_distance(y));
    });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(left_shift){
    .op = "LeftShift",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<left_shift_fn>(types::integers),
};

} // namespace troupe::ops::left_shift_gpu

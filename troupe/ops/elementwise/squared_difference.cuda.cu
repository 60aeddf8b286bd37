#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::squared_difference_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    squared_difference_fn, template <class T> TROUPE_DEVICE T operator()(T a, T b) const {
      auto d = gpu::difference(a, b);
      return gpu::product(d, d);
    });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(squared_difference){
    .op = "SquaredDifference",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<squared_difference_fn>(gpu::usual_types),
};

} // namespace troupe::ops::squared_difference_gpu

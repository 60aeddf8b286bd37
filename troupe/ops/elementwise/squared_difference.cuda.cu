#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::squared_difference_gpu {
namespace {

TROUPE_LANE(
    squared_difference_lane, template <class T> TROUPE_DEVICE T operator()(T a, T b) const {
      auto d = gpu::difference(a, b);
      return gpu::product(d, d);
    });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(squared_difference){
    .op = "SquaredDifference",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<squared_difference_lane>(gpu::usual_types),
};

} // namespace troupe::ops::squared_difference_gpu

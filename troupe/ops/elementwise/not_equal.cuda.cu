#include "troupe/ops/elementwise/shared/equality.cuda.hpp"

namespace troupe::ops::not_equal_gpu {
namespace {

TROUPE_LANE(
    not_equal_lane,
    template <class T> TROUPE_DEVICE bool operator()(T a, T b) const { return a != b; });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(not_equal){
    .op = "NotEqual",
    .device = device_kind::gpu,
    .run = gpu::equality_kernels<not_equal_lane>(types::real_numbers + types::boolean),
    .prepare = keep_attr<bool, "incompatible_shape_error">,
};

} // namespace troupe::ops::not_equal_gpu

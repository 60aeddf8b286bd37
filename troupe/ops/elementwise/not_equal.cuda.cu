#include "troupe/ops/elementwise/shared/equality.cuda.hpp"

namespace troupe::ops::not_equal_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    not_equal_fn,
    template <class T> TROUPE_DEVICE bool operator()(T a, T b) const { return a != b; });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(not_equal){
    .op = "NotEqual",
    .device = device_kind::gpu,
    .run = gpu::equality_kernels<not_equal_fn>(types::real_numbers + types::boolean),
    .prepare = cache_attr<bool, "incompatible_shape_error">,
};

} // namespace troupe::ops::not_equal_gpu

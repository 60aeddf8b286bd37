#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::logical_or_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    logical_or_fn, TROUPE_DEVICE bool operator()(bool a, bool b) const { return a || b; });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(logical_or){
    .op = "LogicalOr",
    .device = device_kind::gpu,
    .run = {{.run = gpu::binary<bool, logical_or_fn>, .code = logical_or_fn::code}},
};

} // namespace troupe::ops::logical_or_gpu

#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::logical_and_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    logical_and_fn, TROUPE_DEVICE bool operator()(bool a, bool b) const { return a && b; });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(logical_and){
    .op = "LogicalAnd",
    .device = device_kind::gpu,
    .run = {{.run = gpu::binary<bool, logical_and_fn>, .code = logical_and_fn::code}},
};

} // namespace troupe::ops::logical_and_gpu

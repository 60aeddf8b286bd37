#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::logical_and_gpu {
namespace {

TROUPE_LANE(
    logical_and_lane, TROUPE_DEVICE bool operator()(bool a, bool b) const { return a && b; });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(logical_and){
    .op = "LogicalAnd",
    .device = device_kind::gpu,
    .run = {{.run = gpu::binary<bool, logical_and_lane>, .code = logical_and_lane::code}},
};

} // namespace troupe::ops::logical_and_gpu

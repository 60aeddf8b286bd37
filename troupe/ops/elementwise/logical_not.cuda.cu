#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::logical_not_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    logical_not_fn, TROUPE_DEVICE bool operator()(bool x) const { return !x; });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(logical_not){
    .op = "LogicalNot",
    .device = device_kind::gpu,
    .run = {{.run = gpu::unary<bool, logical_not_fn>, .code = logical_not_fn::code}},
};

} // namespace troupe::ops::logical_not_gpu

#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::logical_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    logical_and_fn, TROUPE_DEVICE bool operator()(bool a, bool b) const { return a && b; });

TROUPE_SCALAR_FUNCTION(
    logical_or_fn, TROUPE_DEVICE bool operator()(bool a, bool b) const { return a || b; });

TROUPE_SCALAR_FUNCTION(
    logical_not_fn, TROUPE_DEVICE bool operator()(bool x) const { return !x; });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(logical_and){
    .op = "LogicalAnd",
    .device = device_kind::gpu,
    .run = {{.run = gpu::binary<bool, logical_and_fn>, .code = logical_and_fn::code}},
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(logical_or){
    .op = "LogicalOr",
    .device = device_kind::gpu,
    .run = {{.run = gpu::binary<bool, logical_or_fn>, .code = logical_or_fn::code}},
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(logical_not){
    .op = "LogicalNot",
    .device = device_kind::gpu,
    .run = {{.run = gpu::unary<bool, logical_not_fn>, .code = logical_not_fn::code}},
};

} // namespace troupe::ops::logical_gpu

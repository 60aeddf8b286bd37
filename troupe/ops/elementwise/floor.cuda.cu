#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::floor_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    floor_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return floor(x); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(floor){
    .op = "Floor",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<floor_fn>(types::floating),
};

} // namespace troupe::ops::floor_gpu

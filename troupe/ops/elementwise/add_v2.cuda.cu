#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::add_v2_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    add_v2_fn,
    template <class T> TROUPE_DEVICE T operator()(T a, T b) const { return gpu::sum(a, b); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(add_v2){
    .op = "AddV2",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<add_v2_fn>(types::real_numbers),
};

} // namespace troupe::ops::add_v2_gpu

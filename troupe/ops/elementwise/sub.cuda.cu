#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::sub_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    sub_fn, template <class T> TROUPE_DEVICE T operator()(T a, T b)
                const { return gpu::difference(a, b); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(sub){
    .op = "Sub",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<sub_fn>(types::real_numbers),
};

} // namespace troupe::ops::sub_gpu

#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::relu6_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    relu6_fn, template <class T> TROUPE_DEVICE T operator()(T x) const {
      return x <= T(0) ? T(0) : x >= T(6) ? T(6) : x;
    });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(relu6){
    .op = "Relu6",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<relu6_fn>(gpu::usual_types),
};

} // namespace troupe::ops::relu6_gpu

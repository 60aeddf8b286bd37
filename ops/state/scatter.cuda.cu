#include "troupe/ops/state/shared/update.cuda.hpp"

namespace troupe::ops::scatter_gpu {
namespace {

struct scatter_quotient {
  template <class T>
  TROUPE_DEVICE T operator()(T a, T b) const {
    return a / b;
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(scatter_add){
    .op = "ScatterAdd",
    .device = device_kind::gpu,
    .run = gpu::scatter_kernels<adding, false>(gpu::variable_types),
    .prepare = keep_scatter,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(scatter_sub){
    .op = "ScatterSub",
    .device = device_kind::gpu,
    .run = gpu::scatter_kernels<subtracting, false>(gpu::variable_types),
    .prepare = keep_scatter,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(scatter_mul){
    .op = "ScatterMul",
    .device = device_kind::gpu,
    .run = gpu::scatter_kernels<multiplying, false>(gpu::variable_types),
    .prepare = keep_scatter,
};

// Integer division stays on processors, which check for zeros first.
extern constexpr kernel_def TROUPE_GPU_KERNEL(scatter_div){
    .op = "ScatterDiv",
    .device = device_kind::gpu,
    .run = gpu::scatter_kernels<scatter_quotient, false>(types::floating),
    .prepare = keep_scatter,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(scatter_max){
    .op = "ScatterMax",
    .device = device_kind::gpu,
    .run = gpu::scatter_kernels<larger, false>(gpu::variable_types),
    .prepare = keep_scatter,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(scatter_min){
    .op = "ScatterMin",
    .device = device_kind::gpu,
    .run = gpu::scatter_kernels<smaller, false>(gpu::variable_types),
    .prepare = keep_scatter,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(scatter_update){
    .op = "ScatterUpdate",
    .device = device_kind::gpu,
    .run = {{dtype::none, gpu::scatter_over<false>}},
    .prepare = keep_scatter,
};

} // namespace troupe::ops::scatter_gpu

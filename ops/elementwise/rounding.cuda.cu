#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::rounding_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    ceil_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return ceil(x); });

TROUPE_SCALAR_FUNCTION(
    floor_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return floor(x); });

TROUPE_SCALAR_FUNCTION(
    rint_fn, template <class T> TROUPE_DEVICE T operator()(T x) const { return rint(x); });

TROUPE_SCALAR_FUNCTION(
    round_fn, template <class T> TROUPE_DEVICE T operator()(T x) const {
      if constexpr (gpu::is_whole<T>)
        return x;
      else
        return rint(x);
    });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(ceil){
    .op = "Ceil",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<ceil_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(floor){
    .op = "Floor",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<floor_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(rint){
    .op = "Rint",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<rint_fn>(types::floating),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(round){
    .op = "Round",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<round_fn>(gpu::usual_types),
};

} // namespace troupe::ops::rounding_gpu

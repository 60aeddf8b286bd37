#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::bitwise_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    bitwise_and_fn, template <class T> TROUPE_DEVICE T operator()(T a, T b)
                        const { return static_cast<T>(a & b); });

TROUPE_SCALAR_FUNCTION(
    bitwise_or_fn, template <class T> TROUPE_DEVICE T operator()(T a, T b)
                       const { return static_cast<T>(a | b); });

TROUPE_SCALAR_FUNCTION(
    bitwise_xor_fn, template <class T> TROUPE_DEVICE T operator()(T a, T b)
                        const { return static_cast<T>(a ^ b); });

TROUPE_SCALAR_FUNCTION(
    invert_fn,
    template <class T> TROUPE_DEVICE T operator()(T x) const { return static_cast<T>(~x); });

TROUPE_SCALAR_FUNCTION(
    left_shift_fn, template <class T> TROUPE_DEVICE T operator()(T x, T y) const {
      return static_cast<T>(static_cast<typename gpu::unsigned_of<T>::type>(x)
                            << gpu::shift_distance(y));
    });

TROUPE_SCALAR_FUNCTION(
    right_shift_fn, template <class T> TROUPE_DEVICE T operator()(T x, T y)
                        const { return static_cast<T>(x >> gpu::shift_distance(y)); });

struct population_count_fn {
  template <class T>
  TROUPE_DEVICE uint8_t operator()(T x) const {
    return gpu::bits_set(x);
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(bitwise_and){
    .op = "BitwiseAnd",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<bitwise_and_fn>(types::integers),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(bitwise_or){
    .op = "BitwiseOr",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<bitwise_or_fn>(types::integers),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(bitwise_xor){
    .op = "BitwiseXor",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<bitwise_xor_fn>(types::integers),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(invert){
    .op = "Invert",
    .device = device_kind::gpu,
    .run = gpu::unary_kernels<invert_fn>(types::integers),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(left_shift){
    .op = "LeftShift",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<left_shift_fn>(types::integers),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(right_shift){
    .op = "RightShift",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<right_shift_fn>(types::integers),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(population_count){
    .op = "PopulationCount",
    .device = device_kind::gpu,
    .run = {{dtype::i32, gpu::unary<int32_t, population_count_fn, uint8_t>},
            {dtype::i64, gpu::unary<int64_t, population_count_fn, uint8_t>},
            {dtype::u8, gpu::unary<uint8_t, population_count_fn, uint8_t>}},
};

} // namespace troupe::ops::bitwise_gpu

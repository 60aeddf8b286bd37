// Loads and stores of elements in GPU kernels, which convert to and from the type of arithmetic.
// The same source is compiled by nvcc for GPUs and by the host compiler for emulated kernels. One
// program may contain both, so names that differ between the compilers are in separate inline
// namespaces.
#pragma once
#include "troupe/runtime/types/compute_type.hpp"

#ifdef __CUDACC__
#include <cuda_fp16.h>

#define TROUPE_GPU_BUILD on_cuda
#define TROUPE_DEVICE __host__ __device__
#else
#define TROUPE_GPU_BUILD on_host
#define TROUPE_DEVICE
#endif

namespace troupe::gpu {
inline namespace TROUPE_GPU_BUILD {

/// Converts an element to the type of arithmetic; store() converts back.
template <class T>
TROUPE_DEVICE compute_type<T> load(const T& value) {
#ifdef __CUDA_ARCH__
  if constexpr (std::is_same_v<T, float16>)
    return __half2float(__ushort_as_half(value.bits));
  else if constexpr (std::is_same_v<T, bfloat16>)
    return __uint_as_float(uint32_t{value.bits} << 16);
  else
    return value;
#else
  return static_cast<compute_type<T>>(value);
#endif
}

template <class T>
TROUPE_DEVICE T store(const compute_type<T>& value) {
#ifdef __CUDA_ARCH__
  if constexpr (std::is_same_v<T, float16>) {
    T rounded;
    rounded.bits = __half_as_ushort(__float2half_rn(value));
    return rounded;
  } else if constexpr (std::is_same_v<T, bfloat16>) {
    auto bits = __float_as_uint(value);
    T rounded;
    rounded.bits = static_cast<uint16_t>(value != value ? (bits >> 16) | 0x40
                                                        : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    return rounded;
  } else {
    return value;
  }
#else
  return static_cast<T>(value);
#endif
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::gpu

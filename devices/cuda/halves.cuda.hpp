// Numbers of 16 bits in the kernels of devices/cuda: stored so, computed as floats.
#pragma once
#include "troupe/runtime/dtype.hpp"

#include <type_traits>

#ifdef TROUPE_EMULATE_GRID
#include "troupe/devices/simulated/emulated_cuda.hpp"
#else
#include <cuda_fp16.h>
#endif

namespace troupe::gpu {

template <class T>
using wide_type = std::conditional_t<sizeof(T) == 2, float, T>;

#ifdef TROUPE_EMULATE_GRID

template <class T>
wide_type<T> load_wide(T value) {
  return static_cast<wide_type<T>>(value);
}

template <class T>
T store_wide(wide_type<T> value) {
  return static_cast<T>(value);
}

#else

template <class T>
__device__ wide_type<T> load_wide(T value) {
  if constexpr (std::is_same_v<T, float16>)
    return __half2float(__ushort_as_half(value.bits));
  else if constexpr (std::is_same_v<T, bfloat16>)
    return __uint_as_float(uint32_t{value.bits} << 16);
  else
    return value;
}

template <class T>
__device__ T store_wide(wide_type<T> value) {
  if constexpr (std::is_same_v<T, float16>) {
    T made;
    made.bits = __half_as_ushort(__float2half_rn(value));
    return made;
  } else if constexpr (std::is_same_v<T, bfloat16>) {
    auto bits = __float_as_uint(value);
    T made;
    if ((bits & 0x7fffffffu) > 0x7f800000u) // NaN stays NaN
      made.bits = static_cast<uint16_t>((bits >> 16) | 0x40u);
    else
      made.bits = static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
    return made;
  } else {
    return value;
  }
}

#endif

} // namespace troupe::gpu

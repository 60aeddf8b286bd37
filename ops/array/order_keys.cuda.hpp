// Keys of numbers, in their order and with few bits, for kernels of GPUs.
#pragma once
#include "troupe/ops/array/order_keys.hpp"
#include "troupe/ops/launch.cuda.hpp"

namespace troupe::ops::gpu {
#ifdef __CUDACC__
inline namespace on_cuda {
#else
inline namespace simulated {
#endif

template <class T>
struct short_key {
  // A float has its own bits in those of a double.
  static constexpr int dropped = std::is_integral_v<T> || sizeof(T) == 8 ? 0 : 29;
  static constexpr int bits = sizeof(T) == 8 ? 64 : std::is_integral_v<T> ? 32 : 64 - dropped;

  TROUPE_DEVICE static uint64_t of(const T& value) {
    auto key = key_of(load(value));
    if constexpr (std::is_integral_v<T> && sizeof(T) < 8)
      return key - ((uint64_t{1} << 63) - (uint64_t{1} << 31));
    else
      return key >> dropped;
  }
};

} // namespace on_cuda or simulated
} // namespace troupe::ops::gpu

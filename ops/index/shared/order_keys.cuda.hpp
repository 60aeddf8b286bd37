// Keys that sort like numbers and have few bits, for GPU kernels.
#pragma once
#include "troupe/ops/index/shared/order_keys.hpp"
#include "troupe/ops/kernel/gpu/launch.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

/// The order of key_of() in a 4-byte word where that suffices.
template <class T>
struct short_key {
  using word = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  // Halves are converted to floats, in which these bits are 0.
  static constexpr int dropped = std::is_same_v<T, float16>    ? 13
                                 : std::is_same_v<T, bfloat16> ? 16
                                                               : 0;
  static constexpr int bits = 8 * sizeof(word) - dropped;
  static constexpr word greatest = ~word{0} >> dropped;

  TROUPE_DEVICE static word of(const T& element) {
    auto value = load(element);
    if constexpr (sizeof(T) == 8) {
      return key_of(value);
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<word>(key_of(value) - (std::is_signed_v<T> ? below_signed : 0));
    } else {
      if (is_nan(value))
        return greatest;
      auto value_bits = std::bit_cast<uint32_t>(value == 0 ? 0.0f : value);
      return (value_bits & sign ? ~value_bits : value_bits | sign) >> dropped;
    }
  }

private:
  static constexpr uint32_t sign = uint32_t{1} << 31;
  static constexpr uint64_t below_signed =
      (uint64_t{1} << 63) - sign; // the offset that key_of() adds
};

template <class T>
struct short_key_body {
  using keys = short_key<T>;
  const T* from;
  bool greatest_first;
  typename keys::word* to;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto key = keys::of(from[i]);
    to[i] = greatest_first ? keys::greatest - key : key;
  }
};

/// The keys of all elements, u32 or u64. With `greatest_first`, the greatest element has the least
/// key.
template <class T>
result<tensor> short_keys(kernel_context& at, const tensor& values, bool greatest_first) {
  using word = typename short_key<T>::word;
  TROUPE_ASSIGN(auto keys, tensor::make(dtype_of<word>, values.dims(), at.memory()));
  TROUPE_TRY(
      for_each(at, values.elements(),
               short_key_body<T>{values.data<T>(), greatest_first, keys.template data<word>()}));
  return keys;
}

/// Whether rows of this many elements can be sorted by such keys.
template <class T>
bool can_sort_rows_of(int64_t columns) {
  return sizeof(T) == 8 || columns <= std::numeric_limits<int32_t>::max();
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu

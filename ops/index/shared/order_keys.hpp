// 64-bit keys that sort like numbers of any real type.
#pragma once
#include "troupe/ops/kernel/element_types.hpp"

#include <bit>

namespace troupe::ops {

/// -0 equals 0, and NaN is greater than all other values. Takes a value of the computation type.
template <class T>
constexpr uint64_t key_of(T value) {
  constexpr auto sign = uint64_t{1} << 63;
  if constexpr (std::is_integral_v<T>) {
    return std::is_signed_v<T> ? static_cast<uint64_t>(int64_t(value)) ^ sign : uint64_t(value);
  } else {
    auto number = static_cast<double>(value);
    if (is_nan(number))
      return UINT64_MAX;
    auto bits = std::bit_cast<uint64_t>(number == 0 ? 0.0 : number);
    return bits & sign ? ~bits : bits | sign;
  }
}

template <class T>
uint64_t order_key(const T& value) {
  return key_of(widen(value));
}

/// Calls the body with a std::type_identity of the C++ type of a real type.
template <class Body>
void with_real_type(dtype type, Body&& body) {
  auto pick = [&]<class... Ts>(type_list<Ts...>) {
    (void)((type == dtype_of<Ts> && (body(std::type_identity<Ts>{}), true)) || ...);
  };
  pick(types::real_numbers);
}

} // namespace troupe::ops

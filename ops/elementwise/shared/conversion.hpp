// How an element of one type becomes one of another, on every device.
#pragma once
#include "troupe/ops/kernel/element_types.hpp"

#include <bit>
#include <limits>

namespace troupe::ops {

/// Beyond the range the language defines nothing: saturate, as most processors do.
template <class To, class From>
constexpr To saturated(From x) {
  using limits = std::numeric_limits<To>;
  // 2^digits is exact in every float type, the greatest number itself may not be.
  constexpr auto beyond = static_cast<From>(uint64_t{1} << (limits::digits - 1)) * 2;
  if (x >= beyond)
    return limits::max();
  if (x >= static_cast<From>(limits::min()))
    return static_cast<To>(x);
  return x < 0 ? limits::min() : To{0}; // 0 for NaN
}

/// How many bits of its fraction a number loses that becomes one of a narrower floating type.
constexpr int lost_bits(dtype from, dtype to) {
  auto fraction = [](dtype of) {
    return of == dtype::f64    ? 52
           : of == dtype::f32  ? 23
           : of == dtype::f16  ? 10
           : of == dtype::bf16 ? 7
                               : 0;
  };
  return fraction(to) == 0 || fraction(from) <= fraction(to) ? 0 : fraction(from) - fraction(to);
}

/// Zero in their place. NaN stays what it is.
template <class T>
constexpr T without_low_bits(T x, int bits) {
  using word = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  // In whole numbers: GCC 12 makes `x != x ? x : y` an x here.
  constexpr auto infinite = std::bit_cast<word>(std::numeric_limits<T>::infinity());
  const auto all = std::bit_cast<word>(x);
  const auto is_nan = (all & (~word{0} >> 1)) > infinite;
  return std::bit_cast<T>(is_nan ? all : all & (~word{0} << bits));
}

template <class To, class From>
constexpr To converted(const From& x) {
  if constexpr (std::is_same_v<To, From>)
    return x;
  else if constexpr (is_half<From>)
    return converted<To>(static_cast<float>(x));
  else if constexpr (is_half<To>)
    return To{converted<float>(x)};
  else if constexpr (std::is_same_v<To, bool>)
    return x != From{};
  else if constexpr (is_complex<To> && is_complex<From>)
    return To(static_cast<typename To::value_type>(x.real()),
              static_cast<typename To::value_type>(x.imag()));
  else if constexpr (is_complex<From>)
    return converted<To>(x.real());
  else if constexpr (is_complex<To>)
    return To(converted<typename To::value_type>(x));
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
    return saturated<To>(x);
  else
    return static_cast<To>(x);
}

} // namespace troupe::ops

// Conversion of an element between types, on all devices.
#pragma once
#include "troupe/ops/kernel/element_types.hpp"

#include <bit>
#include <limits>

namespace troupe::ops {

/// Saturates beyond the range, as most processors do; the language leaves it undefined.
template <class To, class From>
constexpr To saturated(From x) {
  using limits = std::numeric_limits<To>;
  // 2^digits is exact in every float type; the greatest integer may not be.
  constexpr auto beyond = static_cast<From>(uint64_t{1} << (limits::digits - 1)) * 2;
  if (x >= beyond)
    return limits::max();
  if (x >= static_cast<From>(limits::min()))
    return static_cast<To>(x);
  return x < 0 ? limits::min() : To{0}; // 0 for NaN
}

/// The number of fraction bits lost in a conversion to a narrower floating type.
constexpr int lost_bits(dtype from, dtype to) {
  auto fraction = [](dtype type) {
    return type == dtype::f64    ? 52
           : type == dtype::f32  ? 23
           : type == dtype::f16  ? 10
           : type == dtype::bf16 ? 7
                                 : 0;
  };
  return fraction(to) == 0 || fraction(from) <= fraction(to) ? 0 : fraction(from) - fraction(to);
}

/// Sets those bits to zero. NaN stays unchanged.
template <class T>
constexpr T without_low_bits(T x, int bits) {
  using word = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  // In integers: GCC 12 turns `x != x ? x : y` into x here.
  constexpr auto infinite = std::bit_cast<word>(std::numeric_limits<T>::infinity());
  const auto bits_of_x = std::bit_cast<word>(x);
  const auto is_nan = (bits_of_x & (~word{0} >> 1)) > infinite;
  return std::bit_cast<T>(is_nan ? bits_of_x : bits_of_x & (~word{0} << bits));
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

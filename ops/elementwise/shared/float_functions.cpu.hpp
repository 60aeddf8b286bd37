// exp, log and related functions of float, in branch-free arithmetic that compilers can vectorize
// for any processor. Errors are below 2 units in the last place.
#pragma once
#include <bit>
#include <cstdint>
#include <limits>

namespace troupe::ops {

namespace detail {
// ln 2 in two parts; the first has few bits, so that its products with small integers are exact.
inline constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;

/// e^x = 2^power * (1 + fraction).
struct split_exponential {
  uint32_t power; // two's complement
  float fraction;
};

/// x = power * ln 2 + r and |r| <= ln 2 / 2; e^r - 1 by a polynomial that interpolates at the
/// Chebyshev nodes.
inline __attribute__((always_inline)) split_exponential split(float x) {
  // Adding 1.5 * 2^23 rounds to an integer, which is then in the low bits.
  constexpr float shift = 0x1.8p23f;
  float shifted = x * 1.44269504f + shift;
  auto n = std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(shift);
  float rounded = shifted - shift;
  float r = (x - rounded * ln2_high) - rounded * ln2_low;
  float p = 0x1.6d1606p-10f;
  p = p * r + 0x1.12106cp-7f;
  p = p * r + 0x1.555516p-5f;
  p = p * r + 0x1.5554d8p-3f;
  p = p * r + 0.5f;
  return {n, p * (r * r) + r};
}

/// 2^n for exponents of numbers with a leading one.
inline __attribute__((always_inline)) float power_of_two(uint32_t n) {
  return std::bit_cast<float>((n + 127) << 23);
}

} // namespace detail

inline __attribute__((always_inline)) float exponential(float x) {
  // Outside of this range e^x is infinite or zero, and n would not fit.
  x = x > 89.f ? 89.f : x;
  x = x < -104.f ? -104.f : x;
  auto [n, fraction] = detail::split(x);
  // In two steps: 2^n alone may overflow where the product does not.
  auto half = static_cast<uint32_t>(static_cast<int32_t>(n) >> 1);
  return (fraction + 1.f) * detail::power_of_two(half) * detail::power_of_two(n - half);
}

/// e^x - 1 for x up to 88, exact to the last places where e^x itself would be rounded to 1.
inline __attribute__((always_inline)) float exponential_minus_one(float x) {
  auto [n, fraction] = detail::split(x < -80.f ? -80.f : x);
  auto scale = detail::power_of_two(n);
  return scale * fraction + (scale - 1.f);
}

inline __attribute__((always_inline)) float logistic_function(float x) {
  return 1.f / (1.f + exponential(-x));
}

/// (e^2x - 1) / (e^2x + 1), which is +-1 from +-10 on.
inline __attribute__((always_inline)) float hyperbolic_tangent(float x) {
  x = x > 10.f ? 10.f : x;
  x = x < -10.f ? -10.f : x;
  float m = exponential_minus_one(2.f * x);
  return m / (m + 2.f);
}

/// e * ln 2 + log(1 + f) with x = 2^e * (1 + f) and 1 + f between the roots of 1/2 and 2.
inline __attribute__((always_inline)) float natural_logarithm(float x) {
  constexpr float smallest = std::numeric_limits<float>::min();
  bool tiny = x < smallest; // without leading one
  auto bits = std::bit_cast<uint32_t>(tiny ? x * 0x1p23f : x);
  // Counting from the root of 1/2 brings 1 + f into its range.
  constexpr uint32_t root_of_half = 0x3f3504f3;
  auto exponent = static_cast<int32_t>(bits - root_of_half) >> 23;
  float f = std::bit_cast<float>(bits - (static_cast<uint32_t>(exponent) << 23)) - 1.f;
  float e = static_cast<float>(exponent) - (tiny ? 23.f : 0.f);
  float p = 0x1.1d745ap-4f;
  p = p * f - 0x1.d79714p-4f;
  p = p * f + 0x1.df4c32p-4f;
  p = p * f - 0x1.fcd1e2p-4f;
  p = p * f + 0x1.23c874p-3f;
  p = p * f - 0x1.555bb0p-3f;
  p = p * f + 0x1.999da0p-3f;
  p = p * f - 0x1.fffffcp-3f;
  p = p * f + 0x1.555554p-2f;
  float square = f * f;
  float log = (p * f * square + e * detail::ln2_low) - 0.5f * square + f + e * detail::ln2_high;
  log = x <= std::numeric_limits<float>::max() ? log : x; // infinity and NaN
  log = x == 0.f ? -std::numeric_limits<float>::infinity() : log;
  return x < 0.f ? std::numeric_limits<float>::quiet_NaN() : log;
}

/// log(1 + x), corrected for the digits that 1 + x loses to rounding.
inline __attribute__((always_inline)) float logarithm_of_one_more(float x) {
  float sum = 1.f + x;
  float log = sum == 1.f ? x : natural_logarithm(sum) * (x / (sum - 1.f));
  return sum <= std::numeric_limits<float>::max() ? log : x; // infinity and NaN
}

} // namespace troupe::ops

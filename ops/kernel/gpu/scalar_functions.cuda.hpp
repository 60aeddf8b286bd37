// Arithmetic shared by the bodies of element-wise kernels. Includes nothing, because the run-time
// compiler of fused kernels reads it, too (ops/internal/fused_elementwise.cuda.cpp).
#pragma once

namespace troupe::ops::gpu {

template <class T>
struct unsigned_of {
  using type = T;
};
template <>
struct unsigned_of<signed char> {
  using type = unsigned;
};
template <>
struct unsigned_of<unsigned char> {
  using type = unsigned;
};
template <>
struct unsigned_of<short> {
  using type = unsigned;
};
template <>
struct unsigned_of<unsigned short> {
  using type = unsigned;
};
template <>
struct unsigned_of<int> {
  using type = unsigned;
};
template <>
struct unsigned_of<long> {
  using type = unsigned long;
};

/// Integers wrap around.
template <class T>
TROUPE_DEVICE T sum(T a, T b) {
  using wide = typename unsigned_of<T>::type;
  return static_cast<T>(static_cast<wide>(a) + static_cast<wide>(b));
}
template <class T>
TROUPE_DEVICE T difference(T a, T b) {
  using wide = typename unsigned_of<T>::type;
  return static_cast<T>(static_cast<wide>(a) - static_cast<wide>(b));
}
template <class T>
TROUPE_DEVICE T product(T a, T b) {
  using wide = typename unsigned_of<T>::type;
  return static_cast<T>(static_cast<wide>(a) * static_cast<wide>(b));
}

/// NaN where either operand is NaN.
template <class T>
TROUPE_DEVICE T larger(T a, T b) {
  return b > a || b != b ? b : a;
}
template <class T>
TROUPE_DEVICE T smaller(T a, T b) {
  return b < a || b != b ? b : a;
}

template <class T>
inline constexpr bool is_whole = T(1) / T(2) == T(0);
template <class T>
inline constexpr bool has_sign = T(-1) < T(0);

/// Integers must not be divided by zero.
template <class T>
TROUPE_DEVICE T quotient(T a, T b) {
  if constexpr (is_whole<T> && has_sign<T>)
    return b == T(-1) ? difference(T(0), a)
                      : static_cast<T>(a / b); // the least integer has no quotient
  else
    return static_cast<T>(a / b);
}
template <class T>
TROUPE_DEVICE T floored_quotient(T a, T b) {
  if constexpr (!is_whole<T>) {
    return floor(a / b);
  } else {
    auto rounded = quotient(a, b);
    bool exact = product(rounded, b) == a;
    return exact || (a < T(0)) == (b < T(0)) ? rounded : static_cast<T>(rounded - 1);
  }
}
template <class T>
TROUPE_DEVICE T truncated_quotient(T a, T b) {
  if constexpr (is_whole<T>)
    return quotient(a, b);
  else
    return trunc(a / b);
}

/// The remainder with the sign of a.
template <class T>
TROUPE_DEVICE T remainder(T a, T b) {
  if constexpr (!is_whole<T>)
    return fmod(a, b);
  else if constexpr (has_sign<T>)
    return b == T(-1) ? T(0) : static_cast<T>(a % b);
  else
    return static_cast<T>(a % b);
}
/// The remainder with the sign of b.
template <class T>
TROUPE_DEVICE T floored_remainder(T a, T b) {
  auto r = remainder(a, b);
  if constexpr (has_sign<T>)
    return r != T(0) && (r < T(0)) != (b < T(0)) ? static_cast<T>(r + b) : r;
  else
    return r;
}

/// Integers must not have negative powers.
template <class T>
TROUPE_DEVICE T power(T x, T y) {
  if constexpr (!is_whole<T>) {
    return pow(x, y);
  } else {
    auto raised = T(1);
    for (; y > 0; y /= 2, x = product(x, x))
      if (y % 2 == 1)
        raised = product(raised, x);
    return raised;
  }
}

/// The distance of a shift by y: 0 where y is negative, and at most one less than the number of
/// bits.
template <class T>
TROUPE_DEVICE T shift_distance(T y) {
  constexpr auto farthest = static_cast<T>(8 * sizeof(T) - 1);
  if constexpr (has_sign<T>)
    if (y < T(0))
      return T(0);
  return y > farthest ? farthest : y;
}

/// The number of bits that are set.
template <class T>
TROUPE_DEVICE unsigned char bits_set(T x) {
  unsigned char count = 0;
  auto left = static_cast<typename unsigned_of<T>::type>(x);
  for (unsigned long i = 0; i < 8 * sizeof(T); ++i)
    count = static_cast<unsigned char>(count + (left >> i & 1));
  return count;
}

/// The derivative of the logarithm of the gamma function, from its series for large numbers.
inline TROUPE_DEVICE double digamma(double x) {
  if (x - x != 0) // infinite or NaN
    return x > 0 ? x : x - x;
  double sum = 0;
  if (x <= 0) {
    auto above = x - rint(x); // exact even close to a pole
    if (above == 0)
      return above / above; // a pole: NaN
    constexpr double pi = 3.14159265358979323846;
    sum = -pi / tan(pi * above);
    x = 1 - x;
  }
  for (; x < 12; x += 1)
    sum -= 1 / x;
  auto y = 1 / (x * x);
  auto tail = 691. / 32760;
  tail = 1. / 132 - y * tail;
  tail = 1. / 240 - y * tail;
  tail = 1. / 252 - y * tail;
  tail = 1. / 120 - y * tail;
  tail = 1. / 12 - y * tail;
  return sum + log(x) - 0.5 / x - y * tail;
}

template <class T>
TROUPE_DEVICE T logistic(T x) {
  return T(1) / (T(1) + exp(-x));
}

} // namespace troupe::ops::gpu

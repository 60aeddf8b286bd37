// The arithmetic of reductions, scans and segments, on all devices.
//
// A functor has `start<T>()`, `step(a, b)`, `finish(total, count)`, and optionally `map(x)`, which
// is applied to each element before its step.
#pragma once
#include "troupe/ops/kernel/element_types.hpp"

#include <cmath>
#include <functional>
#include <limits>

namespace troupe::ops {
namespace detail {

// Truth values are bytes, because threads cannot write to adjacent bits.
template <class T>
using total_t = std::conditional_t<std::is_same_v<compute_type<T>, float>, double,
                                   std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>>;

// The element as an operand of the steps.
template <class Fn, class To, class T>
constexpr __attribute__((always_inline)) To element(const T& x) {
  if constexpr (requires { Fn::map(To{}); })
    return Fn::map(static_cast<To>(widen(x)));
  else
    return static_cast<To>(widen(x));
}

} // namespace detail

/// Most functors return the total unchanged.
struct total_as_result {
  template <class Total>
  static constexpr const Total& finish(const Total& total, int64_t) {
    return total;
  }
};

struct addition : total_as_result {
  template <class T>
  static constexpr T start() {
    return T{};
  }
  template <class T>
  static constexpr T step(const T& a, const T& b) {
    return wrapping(std::plus<>{}, a, b);
  }
};

struct multiplication : total_as_result {
  template <class T>
  static constexpr T start() {
    return T{1};
  }
  template <class T>
  static constexpr T step(const T& a, const T& b) {
    return wrapping(std::multiplies<>{}, a, b);
  }
};

/// The average of `count` elements that add up to the total.
template <class T>
constexpr T divided(const T& total, int64_t count) {
  if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
    return count ? static_cast<T>(total / count) : T{};
  else if constexpr (std::is_integral_v<T>)
    return count ? static_cast<T>(total / static_cast<uint64_t>(count)) : T{};
  else if constexpr (is_complex<T>)
    return total / static_cast<typename T::value_type>(count);
  else
    return total / static_cast<T>(count);
}

struct average : addition {
  template <class T>
  static constexpr T finish(const T& total, int64_t count) {
    return divided(total, count);
  }
};

struct largest : total_as_result {
  static constexpr bool compares = true;
  template <class T>
  static constexpr T start() {
    if constexpr (std::is_floating_point_v<T>)
      return -std::numeric_limits<T>::infinity();
    else
      return std::numeric_limits<T>::lowest();
  }
  template <class T>
  static constexpr T step(T a, T b) {
    bool larger = b > a, nan = is_nan(b); // branch-free, so that it is vectorized
    return larger | nan ? b : a;
  }
};

struct smallest : total_as_result {
  static constexpr bool compares = true;
  template <class T>
  static constexpr T start() {
    if constexpr (std::is_floating_point_v<T>)
      return std::numeric_limits<T>::infinity();
    else
      return std::numeric_limits<T>::max();
  }
  template <class T>
  static constexpr T step(T a, T b) {
    bool smaller = b < a, nan = is_nan(b);
    return smaller | nan ? b : a;
  }
};

struct conjunction : total_as_result {
  template <class T>
  static constexpr T start() {
    return true;
  }
  template <class T>
  static constexpr T step(T a, T b) {
    return a & b;
  }
};

struct disjunction : total_as_result {
  template <class T>
  static constexpr T start() {
    return false;
  }
  template <class T>
  static constexpr T step(T a, T b) {
    return a | b;
  }
};

struct euclidean_length {
  template <class T>
  static constexpr T start() {
    return T{};
  }
  template <class T>
  static constexpr T map(const T& x) {
    if constexpr (is_complex<T>)
      return x.real() * x.real() + x.imag() * x.imag();
    else
      return wrapping(std::multiplies<>{}, x, x);
  }
  template <class T>
  static constexpr T step(const T& a, const T& b) {
    return wrapping(std::plus<>{}, a, b);
  }
  template <class T>
  static constexpr T finish(const T& total, int64_t) {
    if constexpr (is_complex<T>)
      return std::sqrt(total.real());
    else if constexpr (std::is_integral_v<T>) // a sum that wrapped around may be negative
      return total > 0 ? static_cast<T>(std::sqrt(static_cast<double>(total))) : T{};
    else
      return std::sqrt(total);
  }
};

} // namespace troupe::ops

// Sums and products as reductions, scans and segments want them.
#pragma once
#include "troupe/ops/math/reduce.cpu.hpp"

#include <functional>
#include <limits>

namespace troupe::ops {

struct addition : total_as_result {
  template <class T>
  static T start() {
    return T{};
  }
  template <class T>
  static T step(const T& a, const T& b) {
    return wrapping(std::plus<>{}, a, b);
  }
};

struct multiplication : total_as_result {
  template <class T>
  static T start() {
    return T{1};
  }
  template <class T>
  static T step(const T& a, const T& b) {
    return wrapping(std::multiplies<>{}, a, b);
  }
};

/// The average of `count` elements that add up to the total.
template <class T>
T divided(const T& total, int64_t count) {
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
  static T finish(const T& total, int64_t count) {
    return divided(total, count);
  }
};

struct largest : total_as_result {
  static constexpr bool compares = true;
  template <class T>
  static T start() {
    if constexpr (std::is_floating_point_v<T>)
      return -std::numeric_limits<T>::infinity();
    else
      return std::numeric_limits<T>::lowest();
  }
  template <class T>
  static T step(T a, T b) {
    bool larger = b > a, nan = is_nan(b); // without a jump it becomes vector code
    return larger | nan ? b : a;
  }
};

struct smallest : total_as_result {
  static constexpr bool compares = true;
  template <class T>
  static T start() {
    if constexpr (std::is_floating_point_v<T>)
      return std::numeric_limits<T>::infinity();
    else
      return std::numeric_limits<T>::max();
  }
  template <class T>
  static T step(T a, T b) {
    bool smaller = b < a, nan = is_nan(b);
    return smaller | nan ? b : a;
  }
};

} // namespace troupe::ops

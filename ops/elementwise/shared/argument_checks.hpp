// Integers that some ops reject, on any device.
#pragma once

namespace troupe::ops {

struct zero_divisor {
  static constexpr const char* text = "cannot divide a whole number by zero";
  template <class T>
  static constexpr bool refuses(T b) {
    return b == T(0);
  }
};

struct negative_power {
  static constexpr const char* text = "a negative power of a whole number is not a whole number";
  template <class T>
  static constexpr bool refuses(T b) {
    return b < T(0);
  }
};

} // namespace troupe::ops

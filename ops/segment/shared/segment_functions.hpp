// Combinations of a segment's rows (reducers.hpp) that differ from reductions.
#pragma once
#include "troupe/ops/kernel/reducers.hpp"

#include <bit>
#include <cmath>

namespace troupe::ops {

/// SegmentMax and SegmentMin give 0 for segments without rows.
template <class Fn>
struct or_zero : Fn {
  template <class T>
  static T empty() {
    return T{};
  }
};

/// UnsortedSegmentMax and UnsortedSegmentMin give the least or the greatest finite number for
/// segments without rows.
template <class Fn>
struct or_extreme : Fn {
  template <class T>
  static T empty() {
    if constexpr (std::is_same_v<T, float16>)
      return T{Fn::step(-65504.0f, 65504.0f) > 0 ? -65504.0f : 65504.0f};
    else if constexpr (std::is_same_v<T, bfloat16>)
      return std::bit_cast<T>(Fn::step(-1.0f, 1.0f) > 0 ? uint16_t{0xff7f} : uint16_t{0x7f7f});
    else
      return Fn::step(T{0}, T{1}) > 0 ? std::numeric_limits<T>::lowest()
                                      : std::numeric_limits<T>::max();
  }
};

/// Sums divided by the square root of the number of rows.
struct over_root : addition {
  template <class T>
  static constexpr T finish(const T& total, int64_t count) {
    return total / std::sqrt(static_cast<T>(count));
  }
};

/// The element of a segment without rows.
template <class Fn, class T>
T empty_segment() {
  if constexpr (requires { Fn::template empty<T>(); })
    return Fn::template empty<T>();
  else
    return static_cast<T>(Fn::template start<detail::total_t<T>>());
}

/// The factor of an entry's gradient in a segment with `count` entries.
struct weigh_as_sum {
  static constexpr double of(double) { return 1; }
};
struct weigh_as_mean {
  static constexpr double of(double count) { return 1 / count; }
};
struct weigh_by_root {
  template <class T = double> // a template, because only some compilers can evaluate its calls
  static constexpr T of(T count) {
    return 1 / std::sqrt(count);
  }
};

} // namespace troupe::ops

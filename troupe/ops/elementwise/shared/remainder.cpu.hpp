// What the kernels of Mod, TruncateMod and FloorMod share.
#pragma once
#include "troupe/ops/elementwise/shared/division.cpu.hpp"

#include <cmath>

namespace troupe::ops {

/// The remainder that has the sign of a.
struct truncated_remainder {
  static constexpr double cost = called;
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (!std::is_integral_v<T>)
      return std::fmod(a, b);
    else if constexpr (std::is_signed_v<T>)
      return b == -1 ? T{0} : static_cast<T>(a % b); // min % -1 traps
    else
      return static_cast<T>(a % b);
  }
};

} // namespace troupe::ops

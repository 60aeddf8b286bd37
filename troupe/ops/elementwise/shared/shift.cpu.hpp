// What the kernels of LeftShift and RightShift share.
#pragma once
#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <limits>

namespace troupe::ops {

/// How far a shift by y goes: not at all where y is negative, and one bit less than there are where
/// y is more.
template <class T>
T shift_distance(T y) {
  constexpr auto farthest = static_cast<T>(8 * sizeof(T) - 1);
  return y < T{0} ? T{0} : y > farthest ? farthest : y;
}

} // namespace troupe::ops

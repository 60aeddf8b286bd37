// The number of elements of Range: shared by its shape function and its kernel.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::ops {

/// Counts the steps of delta from start until limit is reached or passed.
template <class T>
result<int64_t> count_steps(T start, T limit, T delta) {
  if (!(delta != 0))
    return invalid("delta must not be 0");
  if (start != limit && (delta > 0) != (limit > start))
    return invalid("delta ", +delta, " does not lead from ", +start, " to ", +limit);
  constexpr auto max_count = int64_t{1} << 62;
  if constexpr (std::is_integral_v<T>) {
    auto bits = [](T value) {
      return static_cast<uint64_t>(value);
    }; // unsigned differences do not overflow
    auto distance = delta > 0 ? bits(limit) - bits(start) : bits(start) - bits(limit);
    auto step = delta > 0 ? bits(delta) : uint64_t{0} - bits(delta);
    auto count = distance / step + (distance % step != 0 ? 1 : 0);
    return static_cast<int64_t>(std::min(count, static_cast<uint64_t>(max_count) + 1));
  } else {
    auto count = std::ceil((static_cast<double>(limit) - start) / delta);
    if (!(count < static_cast<double>(max_count))) // NaN, too
      return invalid("cannot count from ", start, " to ", limit, " in steps of ", delta);
    return static_cast<int64_t>(count);
  }
}

} // namespace troupe::ops

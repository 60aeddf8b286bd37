// Combination of blocks of a tensor with updates, on all devices.
#pragma once
#include "troupe/ops/index/shared/nd_indices.hpp"
#include "troupe/ops/kernel/element_types.hpp"

#include <functional>

namespace troupe::ops {

struct scatter_add {
  template <class T>
  constexpr T operator()(const T& a, const T& b) const {
    if constexpr (std::is_same_v<T, bool>)
      return a || b;
    else
      return wrapping(std::plus<>{}, a, b);
  }
};
struct scatter_sub {
  template <class T>
  constexpr T operator()(const T& a, const T& b) const {
    return wrapping(std::minus<>{}, a, b);
  }
};
struct scatter_min {
  template <class T>
  constexpr T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
};
struct scatter_max {
  template <class T>
  constexpr T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};

/// Fails unless there is one update for each element of the blocks.
inline status check_updates(const shape& blocks, const tensor& updates) {
  if (blocks == updates.dims())
    return {};
  return invalid("updates must have shape ", blocks, ", got ", updates.dims());
}

} // namespace troupe::ops

// What the kernels of Add and AddV2 share.
#pragma once
#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

namespace troupe::ops {

struct plus {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return wrapping(std::plus<>{}, a, b);
  }
};

} // namespace troupe::ops

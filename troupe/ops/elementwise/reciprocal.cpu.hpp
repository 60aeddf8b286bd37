// What the kernels of Reciprocal and Inv, its old name, and those of their gradients share.
#pragma once
#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"
#include "troupe/ops/elementwise/shared/output_gradients.cpu.hpp"

namespace troupe::ops {

struct reciprocal_of {
  template <class T>
  T operator()(const T& x) const {
    return T{1} / x;
  }
};

struct reciprocal_slope {
  template <class T>
  T operator()(const T& y, const T& dy) const {
    auto z = conjugate_of(y);
    return dy == T{} ? T{} : -dy * z * z;
  }
};

} // namespace troupe::ops

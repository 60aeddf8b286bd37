// Shared by the kernels that compute a gradient from an output and the gradient with respect to it.
#pragma once
#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

namespace troupe::ops {

/// Gradients of complex functions use the conjugate of the derivative.
template <class T>
T conjugate_of(const T& y) {
  if constexpr (is_complex<T>)
    return std::conj(y);
  else
    return y;
}

} // namespace troupe::ops

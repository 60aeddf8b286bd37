// What the kernels of Bincount share: how many bins there are.
#pragma once
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

inline result<int64_t> bins_of(const kernel_context& at) {
  const auto &arr = at.input(0), &weights = at.input(2);
  if (at.input(1).elements() != 1)
    return invalid("size must be a scalar, got shape ", at.input(1).dims());
  int64_t size = *at.input(1).data<int32_t>();
  if (size < 0)
    return invalid("size must not be negative, got ", size);
  if (weights.elements() > 0 && !(weights.dims() == arr.dims()))
    return invalid("weights must be empty or have the shape of arr, got ", weights.dims(), " and ",
                   arr.dims());
  return size;
}

} // namespace troupe::ops

// Argument checks of NthElement, on all devices.
#pragma once
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

struct nth_layout {
  int64_t size = 0, n = 0; ///< the length of a row; the rank, counted from the smallest
  shape dims;              ///< the output's shape
};

inline result<nth_layout> nth_layout_of(const kernel_context& at, bool reverse) {
  const auto &in = at.input(0), &place = at.input(1);
  if (in.rank() == 0 || place.rank() != 0)
    return invalid("input must have a last axis and n be a scalar, got shapes ", in.dims(), " and ",
                   place.dims());
  auto size = in.dims()[in.rank() - 1], n = int64_t{*place.data<int32_t>()};
  if (n < 0 || n >= size)
    return invalid("n must be in [0, ", size, "), got ", n);
  if (reverse)
    n = size - 1 - n;
  TROUPE_ASSIGN(auto dims,
                shape::make(in.dims().extents().first(static_cast<size_t>(in.rank() - 1))));
  return nth_layout{size, n, dims};
}

} // namespace troupe::ops

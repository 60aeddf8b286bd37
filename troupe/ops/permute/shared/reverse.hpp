// What the kernels of Reverse and ReverseV2 share.
#pragma once
#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/define/dims.hpp"
#include "troupe/ops/kernel/copy.hpp"

namespace troupe::ops {

inline status reverse_axes(kernel_context& at, axis_set axes) {
  const auto& x = at.input(0);
  auto strides = strides_of(x.dims());
  int64_t first = 0;
  strided_iterator places;
  for (int axis = 0; axis < x.rank(); ++axis) {
    auto i = static_cast<size_t>(axis);
    auto backwards = axes[i] && x.dims()[axis] > 1;
    first += backwards ? (x.dims()[axis] - 1) * strides[i] : 0;
    places.push_back(x.dims()[axis], {backwards ? -strides[i] : strides[i], 0});
  }
  TROUPE_ASSIGN(auto* out, at.allocate(0, x.dims()));
  copy_strided(at, places, {x, first}, *out);
  return {};
}

} // namespace troupe::ops

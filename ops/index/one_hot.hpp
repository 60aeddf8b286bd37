// Argument checks and layout of OneHot, on all devices.
#pragma once
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

struct one_hot_layout {
  int64_t depth = 0;
  int axis = 0;
  shape dims; ///< the output's shape
};

inline result<one_hot_layout> one_hot_layout_of(const kernel_context& at, int64_t axis_attr) {
  const auto& indices = at.input(0);
  for (int i = 1; i < 4; ++i)
    if (at.input(i).elements() != 1)
      return invalid("depth, on_value and off_value must be scalars, got shape ",
                     at.input(i).dims());
  one_hot_layout layout;
  layout.depth = to_integers(at.input(1))[0];
  TROUPE_ASSIGN(layout.axis, resolve_axis(axis_attr, indices.rank() + 1));
  std::vector<int64_t> extents{indices.dims().begin(), indices.dims().end()};
  extents.insert(extents.begin() + layout.axis, layout.depth);
  TROUPE_ASSIGN(layout.dims, shape::make(extents));
  return layout;
}

} // namespace troupe::ops

// Argument checks of random ops with parameters.
#pragma once
#include "troupe/ops/random/shared/stream.hpp"

namespace troupe::ops {

/// The shape that input 0 lists, followed by the shape of input 1.
inline result<shape> drawn_for_each(const kernel_context& at) {
  TROUPE_ASSIGN(auto outer, drawn_shape(at));
  std::vector<int64_t> extents{outer.begin(), outer.end()};
  const auto& inner = at.input(1).dims();
  extents.insert(extents.end(), inner.begin(), inner.end());
  return shape::make(extents);
}

/// The shape of ParameterizedTruncatedNormal's output; its parameters are scalars, or one number
/// per row.
inline result<shape> drawn_rows(const kernel_context& at) {
  TROUPE_ASSIGN(auto dims, drawn_shape(at));
  if (dims.rank() == 0)
    return invalid("shape must have an axis for rows, got none");
  for (int i = 1; i <= 4; ++i)
    if (const auto& in = at.input(i);
        dims.elements() > 0 && (in.rank() > 1 || (in.elements() != 1 && in.elements() != dims[0])))
      return invalid("a parameter must be one number, or one for each of ", dims[0],
                     " rows, got shape ", in.dims());
  return dims;
}

} // namespace troupe::ops

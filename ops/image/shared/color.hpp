// Ops on the colors of pixels: the last axis is red, green and blue, or hue, saturation and value.
#pragma once
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

inline result<shapes> infer_pixels(const infer_context& at) {
  auto dims = at.input(0);
  if (dims.has_rank()) {
    if (dims.rank() == 0 || (dims[dims.rank() - 1] != unknown_extent && dims[dims.rank() - 1] != 3))
      return at.invalid("the last axis must be 3 colors, got shape ", dims);
    dims.set(dims.rank() - 1, 3);
  }
  for (int i = 1; i < at.inputs(); ++i)
    TROUPE_TRY(at.of_rank(i, 0));
  return shapes{dims};
}

} // namespace troupe::ops

// Whether a tensor's shape is one that was declared.
#pragma once
#include "troupe/runtime/shape.hpp"

namespace troupe {

/// The same as wanted.compatible(found), without a copy of `found`: for what is asked in each step.
inline bool fits(const partial_shape& wanted, const shape& found) {
  if (!wanted.has_rank())
    return true;
  if (wanted.rank() != found.rank())
    return false;
  for (int axis = 0; axis < found.rank(); ++axis)
    if (wanted[axis] != unknown_extent && wanted[axis] != found[axis])
      return false;
  return true;
}

} // namespace troupe

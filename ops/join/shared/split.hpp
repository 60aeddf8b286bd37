// What the shape function and the kernel of SplitV share.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <cstdint>
#include <span>

namespace troupe::ops {

/// Replaces a -1 in the sizes by what is left of the extent. Fails where they do not make it up.
inline status resolve_sizes(std::span<int64_t> sizes, int64_t extent) {
  auto left = extent;
  int64_t* open = nullptr;
  for (auto& size : sizes) {
    if (size < -1 || size > left || (size == -1 && open))
      return invalid("size_splits must be extents that make up ", extent,
                     ", one of which may be -1");
    if (size == -1)
      open = &size;
    else
      left -= size;
  }
  if (open)
    *open = left;
  else if (left != 0)
    return invalid("size_splits must make up ", extent, ", ", left, " are left");
  return {};
}

} // namespace troupe::ops

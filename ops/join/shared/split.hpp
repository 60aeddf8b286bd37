// Shared by the shape function and the kernel of SplitV.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <cstdint>
#include <span>

namespace troupe::ops {

/// Replaces a -1 in the sizes by the remaining extent. Fails where the sizes do not add up to the
/// extent.
inline status resolve_sizes(std::span<int64_t> sizes, int64_t extent) {
  auto remaining = extent;
  int64_t* open = nullptr;
  for (auto& size : sizes) {
    if (size < -1 || size > remaining || (size == -1 && open))
      return invalid("size_splits must be extents that make up ", extent,
                     ", one of which may be -1");
    if (size == -1)
      open = &size;
    else
      remaining -= size;
  }
  if (open)
    *open = remaining;
  else if (remaining != 0)
    return invalid("size_splits must make up ", extent, ", ", remaining, " are left");
  return {};
}

} // namespace troupe::ops

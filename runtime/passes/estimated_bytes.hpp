// Estimates of the memory that values take, from the shapes in their graph.
#pragma once
#include "troupe/runtime/types/dtype.hpp"
#include "troupe/runtime/types/shape.hpp"

#include <algorithm>

namespace troupe {

/// Returns an estimate of a value's bytes. An unknown extent counts as 1. The estimate is at most
/// 2^40 bytes, because users may write unrealistic extents and estimates of millions of values are
/// summed.
inline int64_t estimated_bytes(dtype type, const partial_shape& dims) {
  constexpr int64_t max_bytes = int64_t{1} << 40;
  auto bytes = static_cast<int64_t>(size_of(type));
  if (!dims.has_rank())
    return bytes;
  for (auto extent : dims.extents())
    if (extent != unknown_extent)
      bytes =
          __builtin_mul_overflow(bytes, extent, &bytes) ? max_bytes : std::min(bytes, max_bytes);
  return bytes;
}

} // namespace troupe

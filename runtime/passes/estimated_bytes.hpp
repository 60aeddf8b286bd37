// How much memory a value takes, as far as its graph says.
#pragma once
#include "troupe/runtime/types/dtype.hpp"
#include "troupe/runtime/types/shape.hpp"

#include <algorithm>

namespace troupe {

/// Unknown extents count as 1. No value counts as more than 2^40 bytes: users may write extents
/// that no memory holds, and estimates of millions of values are added up.
inline int64_t estimated_bytes(dtype type, const partial_shape& dims) {
  constexpr int64_t most = int64_t{1} << 40;
  auto bytes = static_cast<int64_t>(size_of(type));
  if (!dims.has_rank())
    return bytes;
  for (auto extent : dims.extents())
    if (extent != unknown_extent)
      bytes = __builtin_mul_overflow(bytes, extent, &bytes) ? most : std::min(bytes, most);
  return bytes;
}

} // namespace troupe

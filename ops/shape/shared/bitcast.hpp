// The output shape of Bitcast.
#pragma once
#include "troupe/runtime/types/dtype.hpp"
#include "troupe/runtime/types/shape.hpp"

namespace troupe::ops {

/// Unknown extents are -1.
inline result<std::vector<int64_t>> recast_extents(std::span<const int64_t> extents, dtype from,
                                                   dtype to) {
  std::vector<int64_t> changed{extents.begin(), extents.end()};
  auto from_size = static_cast<int64_t>(size_of(from)), to_size = static_cast<int64_t>(size_of(to));
  if (from_size > to_size) {
    changed.push_back(from_size / to_size);
  } else if (from_size < to_size) {
    if (changed.empty() ||
        (changed.back() != unknown_extent && changed.back() != to_size / from_size))
      return invalid("the last axis must have ", to_size / from_size, ' ', from,
                     " that make up one ", to, ", got shape ", partial_shape{changed});
    changed.pop_back();
  }
  return changed;
}

} // namespace troupe::ops

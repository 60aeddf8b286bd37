// The shape that Bitcast gives.
#pragma once
#include "troupe/runtime/types/dtype.hpp"
#include "troupe/runtime/types/shape.hpp"

namespace troupe::ops {

/// Unknown extents are -1.
inline result<std::vector<int64_t>> recast_extents(std::span<const int64_t> extents, dtype from,
                                                   dtype to) {
  std::vector<int64_t> changed{extents.begin(), extents.end()};
  auto before = static_cast<int64_t>(size_of(from)), after = static_cast<int64_t>(size_of(to));
  if (before > after) {
    changed.push_back(before / after);
  } else if (before < after) {
    if (changed.empty() || (changed.back() != unknown_extent && changed.back() != after / before))
      return invalid("the last axis must have ", after / before, ' ', from, " that make up one ",
                     to, ", got shape ", partial_shape{changed});
    changed.pop_back();
  }
  return changed;
}

} // namespace troupe::ops

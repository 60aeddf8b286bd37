// What the definitions of random ops share.
#pragma once
#include "troupe/runtime/infer.hpp"

namespace troupe::ops {

/// Output 0 has the shape that input 0 lists.
inline result<shapes> infer_drawn(const infer_context& at) {
  TROUPE_ASSIGN(auto list, at.of_rank(0, 1));
  if (auto extents = at.integers(0)) {
    TROUPE_ASSIGN(auto dims, shape::make(*extents));
    return shapes{dims};
  }
  if (list[0] == unknown_extent)
    return shapes{partial_shape::unknown()};
  if (list[0] > max_rank)
    return at.invalid("a shape has at most ", max_rank, " extents, got ", list[0]);
  return shapes{partial_shape::of_rank(static_cast<int>(list[0]))};
}

} // namespace troupe::ops

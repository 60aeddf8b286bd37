// What the definitions of LowerBound and UpperBound share.
#pragma once
#include "troupe/runtime/infer.hpp"

namespace troupe::ops {

/// A sorted row for each row of values.
inline result<shapes> infer_bounds(const infer_context& at) {
  TROUPE_ASSIGN(auto sorted, at.of_rank(0, 2));
  TROUPE_ASSIGN(auto values, at.of_rank(1, 2));
  TROUPE_ASSIGN(auto rows, merge(partial_shape{sorted[0]}, {values[0]}));
  return shapes{{rows[0], values[1]}};
}

} // namespace troupe::ops

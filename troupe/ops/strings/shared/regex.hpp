// What ops with regular expressions have in common.
#pragma once
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

/// Input 0 is searched; the others are patterns, and scalars.
inline result<shapes> infer_regex(const infer_context& at) {
  for (int i = 1; i < at.inputs(); ++i)
    TROUPE_TRY(at.of_rank(i, 0));
  return shapes{at.input(0)};
}

} // namespace troupe::ops

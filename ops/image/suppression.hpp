// Ops that choose the best of boxes that overlap.
#pragma once
#include "troupe/runtime/infer.hpp"

namespace troupe::ops {

inline result<shapes> infer_suppression(const infer_context& at) {
  TROUPE_ASSIGN(auto boxes, at.of_rank(0, 2));
  TROUPE_ASSIGN(auto scores, at.of_rank(1, 1));
  auto differ = boxes[0] != unknown_extent && scores[0] != unknown_extent && boxes[0] != scores[0];
  if ((boxes[1] != unknown_extent && boxes[1] != 4) || differ)
    return at.invalid("boxes must be [count, 4] and scores [count], got ", boxes, " and ", scores);
  for (int i = 2; i < at.inputs(); ++i)
    TROUPE_TRY(at.of_rank(i, 0));
  return shapes{{unknown_extent}};
}

} // namespace troupe::ops

// Ops that select the best of overlapping boxes.
#pragma once
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"
#include "troupe/runtime/graph/two_phase_op.hpp"

#include <algorithm>

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

/// Checks the shapes of boxes, scores and max_output_size; returns the maximum number of selected
/// boxes.
inline result<int64_t> check_boxes(const kernel_context& at) {
  const auto &boxes = at.input(0), &scores = at.input(1), &output_limit = at.input(2);
  if (boxes.rank() != 2 || boxes.dims()[1] != 4 || scores.rank() != 1 ||
      scores.dims()[0] != boxes.dims()[0] || output_limit.rank() != 0)
    return invalid("boxes must be [count, 4], scores [count] and max_output_size a scalar, got ",
                   boxes.dims(), ", ", scores.dims(), " and ", output_limit.dims());
  return std::clamp<int64_t>(*output_limit.data<int32_t>(), 0, scores.elements());
}

} // namespace troupe::ops

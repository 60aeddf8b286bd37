// Non-maximum suppression: selects boxes in the order of their scores, except those that overlap a
// better one too much.
#pragma once
#include "troupe/ops/image/shared/suppression.hpp"
#include "troupe/ops/kernel/element_types.hpp"

#include <limits>
#include <vector>

namespace troupe::ops {

/// Selects from the boxes at input 0 by the scores at input 1, of any float type. Only the shape
/// function needs to have checked the inputs.
status suppress(kernel_context& at, float max_overlap,
                float least_score = -std::numeric_limits<float>::infinity());

/// The scalar at input i.
result<float> threshold_at(const kernel_context& at, int i);

/// The suppression whose thresholds are inputs: of the overlap, and with `Scores` also of the
/// scores.
template <bool Scores>
status suppress_by_inputs(kernel_context& at) {
  TROUPE_ASSIGN(auto overlap, threshold_at(at, 3));
  auto score = -std::numeric_limits<float>::infinity();
  if constexpr (Scores) {
    TROUPE_ASSIGN(score, threshold_at(at, 4));
  }
  return suppress(at, overlap, score);
}

} // namespace troupe::ops

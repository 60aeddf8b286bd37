// Non-maximum suppression: boxes in the order of their scores, but for those that overlap a better
// one too much.
#pragma once
#include "troupe/ops/image/shared/suppression.hpp"
#include "troupe/ops/kernel/element_types.hpp"

#include <limits>
#include <vector>

namespace troupe::ops {

/// Chooses from the boxes at input 0 by the scores at input 1, of any float type. Inputs must have
/// been checked by the shape function only.
status suppress(kernel_context& at, float max_overlap,
                float least_score = -std::numeric_limits<float>::infinity());

/// The scalar at input i.
result<float> threshold_at(const kernel_context& at, int i);

/// The suppression whose thresholds are inputs: of overlap, and with `Scores` of scores.
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

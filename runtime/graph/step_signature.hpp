// The inputs and outputs of a kind of step.
#pragma once
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/types/step_clock.hpp"

#include <algorithm>

namespace troupe {

struct step_signature {
  std::vector<edge> feeds = {};
  std::vector<edge> fetches = {};
  std::vector<node*> targets = {};
  bool low_priority = false; ///< its heavy work yields to that of other steps

  bool operator==(const step_signature& other) const noexcept {
    return std::ranges::equal(feeds, other.feeds, is_same_edge) &&
           std::ranges::equal(fetches, other.fetches, is_same_edge) && targets == other.targets &&
           low_priority == other.low_priority;
  }
};

} // namespace troupe

// Divides the nodes of a task between a GPU and its processor (docs/decisions/024).
#pragma once
#include "troupe/runtime/placement/place.hpp"

#include <compare>

namespace troupe {

/// A GPU and the processor of its task, as places among the devices.
struct rivals {
  int gpu, processor;
  auto operator<=>(const rivals&) const = default;
};

/// Divides the nodes that may choose, and are on that GPU so far, so that the sum of all times is
/// least: those of nodes, and those of tensors that go from one to the other. What is somewhere
/// else is left out: it is as far from both. `chosen` and `may_choose` are by node id.
void divide(const graph& of, rivals between, const placing& how, std::vector<int>& chosen,
            const std::vector<bool>& may_choose);

} // namespace troupe

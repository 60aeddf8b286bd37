// Divides the nodes of a task between a GPU and its host's processor (docs/decisions/024).
#pragma once
#include "troupe/runtime/placement/place.hpp"

#include <compare>

namespace troupe {

/// A GPU and the processor of its task, as indices into the devices.
struct gpu_and_host {
  int gpu, processor;
  auto operator<=>(const gpu_and_host&) const = default;
};

/// Divides the nodes that may choose and are placed on that GPU, so that the total time of nodes
/// and of copies between the two devices is minimal. Nodes on other devices are ignored: they are
/// equally far from both. `chosen` and `may_choose` are by node id.
void divide(const graph& placed, gpu_and_host between, const place_options& options,
            std::vector<int>& chosen, const std::vector<bool>& may_choose);

} // namespace troupe

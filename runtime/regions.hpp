// Decides which nodes of a partition form a region.
#pragma once
#include "troupe/runtime/graph.hpp"

#include <vector>

namespace troupe {

/// The region of each node, by node id. A node that waits ends in the region of its answer (`of`) and is
/// issued from another (`issued_from`; the same number for all other nodes).
struct region_map {
  std::vector<uint32_t> of, issued_from;
  uint32_t count = 0; // region 0 waits for nothing
};

/// Puts nodes together that depend on exactly the same waits. An edge can only lead to a region that
/// depends on more waits, so that the regions form no cycle, whatever the graph is.
region_map find_regions(const graph& of);

} // namespace troupe

// Finds parallel branches that are heavy enough to run on several threads.
#pragma once
#include "troupe/runtime/program/regions.hpp"

namespace troupe {

/// Returns for each node, by id, 0 or the number (from 1 on) of the group of branches that it
/// heads. A branch is a node with all nodes that are reachable only through it. The branches of
/// different groups that begin at the same place do not depend on each other, and each is heavy
/// enough for another thread. `base` assigns the nodes to base regions; a branch stays within its
/// base region.
std::vector<uint32_t> find_branches(const graph& step_graph, const std::vector<uint32_t>& base,
                                    const region_options& options);

} // namespace troupe

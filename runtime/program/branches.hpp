// Finds parallel branches that are heavy enough to run on several threads.
#pragma once
#include "troupe/runtime/program/regions.hpp"

namespace troupe {

/// For each node, by id: 0, or the number (from 1 on) of the group of branches that it is the head
/// of. A branch is a node with all that can only be reached through it. The branches of different
/// groups that begin at the same place do not depend on each other, and each is worth another
/// thread. `base` says which nodes may share a region; no branch leads from one to another.
std::vector<uint32_t> find_branches(const graph& of, const std::vector<uint32_t>& base,
                                    const region_options& options);

} // namespace troupe

// What a run of a function keeps for its gradient, as one value.
#pragma once
#include "troupe/runtime/graph/graph.hpp"

namespace troupe {

/// Adds a node that makes one value of several. With `swap`, large ones go to files
/// (devices/cpu/swap_space.hpp).
result<edge> add_tuple(graph& to, const std::vector<edge>& of, bool swap = false);

/// Adds one that gives the components, which are like these edges of another graph.
result<std::vector<edge>> add_items(edge tuple, const std::vector<edge>& like);

} // namespace troupe

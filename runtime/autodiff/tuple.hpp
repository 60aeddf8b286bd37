// Tuples: single values that hold all values that a call of a function keeps for its gradient.
#pragma once
#include "troupe/runtime/graph/graph.hpp"

namespace troupe {

/// Adds a node that packs several values into one. With `swap`, large ones are written to files
/// (devices/cpu/swap_space.hpp).
result<edge> add_tuple(graph& target, const std::vector<edge>& components, bool swap = false);

/// Adds a node that unpacks a tuple. Types and shapes are those of `source_edges`, of another
/// graph.
result<std::vector<edge>> add_items(edge tuple, const std::vector<edge>& source_edges);

} // namespace troupe

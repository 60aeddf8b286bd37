// Nodes with a text as their origin, for graphs from files or other processes.
#pragma once
#include "troupe/runtime/graph/graph.hpp"

namespace troupe {

/// The source line that built the node: "model.cpp:12".
std::string origin_of(const node& described);

/// Adds a node with `origin` in its description, and in the error of a node that is refused. With
/// an empty origin, uses `spec.where`.
result<node*> add_with_origin(graph& to, node_spec spec, std::string origin);

} // namespace troupe

// Nodes whose line of origin is a text: they come from a file or another process.
#pragma once
#include "troupe/runtime/graph/graph.hpp"

namespace troupe {

/// The line that built the node: "model.cpp:12".
std::string origin_of(const node& of);

/// Adds a node as built at `origin`, in its description and in the error if it is refused. An empty
/// origin stands for `spec.where`.
result<node*> add_with_origin(graph& to, node_spec spec, std::string origin);

} // namespace troupe

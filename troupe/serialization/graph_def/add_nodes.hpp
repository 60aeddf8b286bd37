// The nodes of a GraphDef without calls, on their way into a graph.
#pragma once
#include "troupe/serialization/graph_def.hpp"
#include "troupe/serialization/graph_def/graph_def.pb.h"

namespace troupe::graph_def {

/// Adds the nodes, of ops that exist, each after its inputs, with every check.
status add_nodes(const GraphDef& from, graph& into, const graph_def_options& options);

} // namespace troupe::graph_def

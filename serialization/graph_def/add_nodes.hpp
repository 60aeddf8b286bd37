// Adds the nodes of a GraphDef, whose calls were replaced, to a graph.
#pragma once
#include "troupe/serialization/graph_def/graph_def.hpp"
#include "troupe/serialization/graph_def/graph_def.pb.h"
#include "troupe/serialization/graph_def/read_function.hpp"

#include <functional>
#include <map>
#include <string>

namespace troupe::graph_def {

/// The replacement of an Identity of a handle. The Identity itself is dropped, because handles are
/// resolved when the graph is compiled.
struct passed_handle {
  edge target;           ///< the variable, queue or table
  node* after = nullptr; ///< a node that runs when the Identity would
};
using passed_handles = std::map<std::string, passed_handle>;

/// Resolves "node:1" among the nodes outside; fails if there is no such node.
using outer_names = std::function<result<edge>(const std::string&)>;

/// Adds the nodes, each after its inputs, with every check. Their ops must exist. Returns the nodes
/// that only passed handles on, by their names in the file. `arguments` replaces nodes of these
/// names, and `outer` resolves inputs that are not among the nodes.
result<passed_handles> add_nodes(const GraphDef& from, graph& target, const function_source& source,
                                 const std::map<std::string, edge>& arguments = {},
                                 const outer_names& outer = {});

} // namespace troupe::graph_def

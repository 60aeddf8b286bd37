// The nodes of a GraphDef without calls, on their way into a graph.
#pragma once
#include "troupe/serialization/graph_def/graph_def.hpp"
#include "troupe/serialization/graph_def/graph_def.pb.h"
#include "troupe/serialization/graph_def/read_function.hpp"

#include <functional>
#include <map>
#include <string>

namespace troupe::graph_def {

/// What became of an Identity of a handle: there is none for it, as a handle is resolved when the
/// graph is compiled.
struct passed_handle {
  edge of;               ///< the variable, queue or table
  node* after = nullptr; ///< runs when the Identity would
};
using passed_handles = std::map<std::string, passed_handle>;

/// What "node:1" is among the nodes around; fails where there is no such node.
using outer_names = std::function<result<edge>(const std::string&)>;

/// Adds the nodes, of ops that exist, each after its inputs, with every check. Returns those that
/// only passed handles on, by their names in the file. `given` stands for nodes of these names, and
/// `around` for inputs that are none of the nodes.
result<passed_handles> add_nodes(const GraphDef& from, graph& into, const function_source& with,
                                 const std::map<std::string, edge>& given = {},
                                 const outer_names& around = {});

} // namespace troupe::graph_def

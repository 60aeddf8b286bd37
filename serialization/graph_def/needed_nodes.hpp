// Selects the nodes of a GraphDef that are read: those that are needed and supported.
#pragma once
#include "troupe/serialization/graph_def/values.hpp"

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace troupe::graph_def {

/// Nodes that were removed from a GraphDef, each with the reason, as a predicate of a sentence.
using left_out_nodes = std::map<std::string, std::string, std::less<>>;

struct needed_nodes {
  left_out_nodes left_out;
  /// For each remaining node, one of the wanted names that need it.
  std::unordered_map<std::string, std::string> needed_by;
};

/// Removes all nodes that no wanted node needs. A wanted name is "node" or "node:1"; "call/node"
/// stands for the call. Fails with not_found for a name that is not in the file.
result<needed_nodes> keep_needed(GraphDef& graph, const std::vector<std::string>& wanted_names);

/// Removes Placeholders of handles, which can be neither fed nor computed, and all nodes that need
/// them.
left_out_nodes leave_out_handles(GraphDef& graph);

} // namespace troupe::graph_def

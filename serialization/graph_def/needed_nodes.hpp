// Which nodes of a GraphDef are read: those that are needed, and that can be.
#pragma once
#include "troupe/serialization/graph_def/values.hpp"

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace troupe::graph_def {

/// Nodes that were taken out of a GraphDef, and the end of a sentence that says why.
using left_out_nodes = std::map<std::string, std::string, std::less<>>;

struct needed_nodes {
  left_out_nodes left_out;
  /// For each node that is left, one of the wanted names that need it.
  std::unordered_map<std::string, std::string> needed_by;
};

/// Takes out all nodes that none of the wanted ones needs. A wanted name is "node" or "node:1";
/// "call/node" stands for the call. Fails with not_found for a name that the file does not have.
result<needed_nodes> keep_needed(GraphDef& in, const std::vector<std::string>& wanted);

/// Takes out Placeholders of handles, which can be neither fed nor computed, and all that needs
/// them.
left_out_nodes leave_out_handles(GraphDef& in);

} // namespace troupe::graph_def

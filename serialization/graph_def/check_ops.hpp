// Checks whether all ops of a GraphDef exist.
#pragma once
#include "troupe/runtime/fwd.hpp"
#include "troupe/serialization/graph_def/values.hpp"

#include <string>
#include <unordered_map>

namespace troupe::graph_def {

/// Fails with a list of all missing ops, in the nodes and in the functions that they call.
/// `needed_by`, if given, maps the name of a node to a wanted name that needs it.
status check_ops(const GraphDef& graph, const registry& ops,
                 const std::unordered_map<std::string, std::string>& needed_by = {});

} // namespace troupe::graph_def

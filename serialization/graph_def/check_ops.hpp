// Whether we have all the ops of a GraphDef.
#pragma once
#include "troupe/runtime/fwd.hpp"
#include "troupe/serialization/graph_def/values.hpp"

#include <string>
#include <unordered_map>

namespace troupe::graph_def {

/// Fails with a list of all ops that are missing, in the nodes and in the functions that they call:
/// all at once. `needed_by` names for nodes, where it is given, the wanted name that needs them.
status check_ops(const GraphDef& in, const registry& ops,
                 const std::unordered_map<std::string, std::string>& needed_by = {});

} // namespace troupe::graph_def

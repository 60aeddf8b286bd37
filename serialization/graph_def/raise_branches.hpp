// Converts Switches and Merges of TensorFlow 1 to branches.
#pragma once
#include "troupe/serialization/graph_def/flow_graph.hpp"

namespace troupe::graph_def {

/// The replacement of a name of the file whose node was converted.
struct stand_in {
  std::vector<source> outputs;
  int end = -1;              ///< the item to run for the node
  bool is_exclusive = false; ///< at most one of the outputs exists in a step
};
using stand_ins = std::map<std::string, stand_in, std::less<>>;

/// Makes branches of the conditional items of a part without frames. Fails with the names if it is
/// ambiguous which input a Merge takes.
status raise_branches(flow_graph& graph, int part);

/// The same for the graph, whose nodes may be fetched by their names. Fetching a node of a branch
/// that does not run gives an error. Nodes that lead to a Merge keep their names only if they are
/// `wanted`; so do the predicates of inner branches (cond/switch_t).
result<stand_ins> raise_named_branches(flow_graph& graph, int part,
                                       const std::set<std::string>& wanted);

} // namespace troupe::graph_def

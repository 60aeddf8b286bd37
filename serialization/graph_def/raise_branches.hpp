// Switches and Merges of TensorFlow 1 become branches.
#pragma once
#include "troupe/serialization/graph_def/flow_graph.hpp"

namespace troupe::graph_def {

/// What a name of the file stands for when its node has become another.
struct stand_in {
  std::vector<source> outputs;
  int end = -1;              ///< runs when the node would
  bool is_exclusive = false; ///< only one of the outputs is ever there
};
using stand_ins = std::map<std::string, stand_in, std::less<>>;

/// Makes branches of what runs under conditions in a part without frames. Fails with the names
/// where it is not clear which input a Merge takes.
status raise_branches(flow_graph& in, int part);

/// The same for the graph, whose nodes may be asked for by their names: a node of a branch gives an
/// error, when it is fetched, if it does not run. Nodes that lead to a Merge are kept only where
/// their names are `wanted`; so are the predicates of inner branches (cond/switch_t).
result<stand_ins> raise_named_branches(flow_graph& in, int part,
                                       const std::set<std::string>& wanted);

} // namespace troupe::graph_def

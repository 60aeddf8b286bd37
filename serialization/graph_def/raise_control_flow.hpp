// TensorFlow 1's control flow, raised to branches and loops (docs/control-flow.md). In a GraphDef
// of TensorFlow 1, Switch sends a value one of two ways, nodes that get nothing are dead, Merge
// takes what is there; a loop is a cycle through NextIteration in a frame of its own (white
// paper, 4.4).
#pragma once
#include "troupe/runtime/fwd.hpp"
#include "troupe/serialization/graph_def/values.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace troupe::graph_def {

/// What becomes a function of a branch or a loop. Its nodes may read those around it.
struct raised_part {
  GraphDef nodes;
  std::vector<std::string> arguments; ///< of a loop: the nodes that stand for its variables
  std::vector<std::string> results;   ///< "node:1", or nothing where it is dead
};

/// A branch, whose parts are what runs if the predicate holds and if it does not, or a loop, whose
/// parts are the condition and the body.
struct raised_node {
  std::vector<raised_part> parts;
  size_t variables = 0;
  std::vector<bool> keeps_ref; ///< which loop variables, or results of a branch, may be state
  bool is_loop = false;
};

struct raised_name {
  std::vector<std::string> outputs; ///< "node:1"
  std::string end;                  ///< the node that runs when what had the name would
  bool is_exclusive = false;        ///< only one of the outputs is ever there
};

struct raised_graph {
  std::map<std::string, raised_node, std::less<>> nodes;
  std::map<std::string, raised_name, std::less<>> names;  ///< of nodes that became something else
  std::map<std::string, std::string, std::less<>> hidden; ///< why there is no such node any more

  /// What an output of the file is now.
  result<std::string> renamed(const std::string& text) const;
};

/// Replaces control flow by nodes If and While, which the result describes. Fails with the names of
/// the nodes where it makes no sense, or cannot be said in branches and loops. Costs nothing where
/// there is none. Values in branches that lead to a Merge can be read if their nodes are `wanted`.
result<raised_graph> raise_control_flow(GraphDef& in, const registry& ops,
                                        const std::set<std::string>& wanted = {});

} // namespace troupe::graph_def

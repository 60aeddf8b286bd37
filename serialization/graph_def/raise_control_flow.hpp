// Converts TensorFlow 1's control flow to branches and loops (docs/control-flow.md). In a GraphDef
// of TensorFlow 1, Switch passes a value to one of two outputs, nodes without an input value are
// dead, and Merge takes the input that exists. A loop is a cycle through NextIteration in a frame
// (white paper, 4.4).
#pragma once
#include "troupe/runtime/fwd.hpp"
#include "troupe/serialization/graph_def/values.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace troupe::graph_def {

/// A function of a branch or a loop. Its nodes may read nodes outside.
struct raised_part {
  GraphDef nodes;
  std::vector<std::string> arguments; ///< of a loop: the nodes that represent its variables
  std::vector<std::string> results;   ///< "node:1", or empty for a dead result
};

/// A branch, whose parts run for a true and for a false predicate, or a loop, whose parts are the
/// condition and the body.
struct raised_node {
  std::vector<raised_part> parts;
  size_t variables = 0;
  std::vector<bool> keeps_ref; ///< which loop variables, or results of a branch, may be state
  bool is_loop = false;
};

struct raised_name {
  std::vector<std::string> outputs; ///< "node:1"
  std::string end;                  ///< the node to run for the name
  bool is_exclusive = false;        ///< at most one of the outputs exists in a step
};

struct raised_graph {
  std::map<std::string, raised_node, std::less<>> nodes;
  std::map<std::string, raised_name, std::less<>> names;  ///< of converted nodes
  std::map<std::string, std::string, std::less<>> hidden; ///< names that do not exist, with reasons

  /// The replacement of an output of the file.
  result<std::string> renamed(const std::string& text) const;
};

/// Replaces control flow by nodes If and While, which the result describes. Fails with the names of
/// the nodes if the control flow is invalid, or cannot be expressed by branches and loops. Costs
/// nothing without control flow. Values in branches that lead to a Merge can be fetched if their
/// nodes are `wanted`.
result<raised_graph> raise_control_flow(GraphDef& graph, const registry& ops,
                                        const std::set<std::string>& wanted = {});

} // namespace troupe::graph_def

// The conditions under which nodes of TensorFlow 1 run: predicates and their values.
#pragma once
#include "troupe/serialization/graph_def/flow_graph.hpp"

namespace troupe::graph_def {

/// A predicate and its required value.
struct literal {
  int predicate;
  bool holds;
  auto operator<=>(const literal&) const = default;
};

/// The conjunction of literals under which a node runs; sorted, the outermost branch is first.
using condition = std::vector<literal>;

/// The conditions of the nodes of one part.
struct deadness {
  struct predicate {
    source from;   ///< the value, behind nodes that only pass it on
    int by_switch; ///< a Switch with this predicate
    int rank = 0;  ///< the order of nesting of the branches
  };
  std::vector<predicate> predicates;
  std::unordered_map<int, condition> when; ///< of each item that may run
  /// Switches whose predicate is constant wherever the part's loop runs, and its value.
  std::unordered_map<int, bool> decided;

  const condition& condition_of(int item) const;
  /// Whether the value exists whenever the part runs.
  bool is_always_there(source value, const flow_graph& graph) const;
  void sort(condition& when) const;
};

/// Finds the condition of each item of a part, given the facts of its loop. Items that never run
/// become `removed`. A merge becomes merges of two inputs, or passes its only input on. Fails for
/// merges of which not exactly one input exists whenever the rest of the condition holds.
/// `indices`: merges whose second output is needed.
result<deadness> find_deadness(flow_graph& graph, int part, const std::set<int>& indices);

/// Describes a condition: "'p' is true and 'q' is false".
std::string to_text(const condition& when, const flow_graph& graph, const deadness& known);

} // namespace troupe::graph_def

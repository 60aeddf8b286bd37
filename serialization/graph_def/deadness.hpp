// When nodes of TensorFlow 1 run: which predicates must hold, and which must not.
#pragma once
#include "troupe/serialization/graph_def/flow_graph.hpp"

namespace troupe::graph_def {

/// A predicate, and what it must be.
struct literal {
  int predicate;
  bool holds;
  auto operator<=>(const literal&) const = default;
};

/// What must be so for a node to run: all of these, the outermost branch first once they are
/// sorted.
using condition = std::vector<literal>;

/// What is known of the nodes of one part.
struct deadness {
  struct predicate {
    source from;   ///< behind all that only passes it on
    int by_switch; ///< one that asks it
    int rank = 0;  ///< the order in which branches lie within each other
  };
  std::vector<predicate> predicates;
  std::unordered_map<int, condition> when; ///< of each item that may run
  /// Switches whose predicate has one value wherever the loop runs that the part belongs to.
  std::unordered_map<int, bool> decided;

  const condition& of(int item) const;
  /// Whether the value is there whenever the part runs.
  bool is_always_there(source what, const flow_graph& in) const;
  void sort(condition& when) const;
};

/// Finds out when each item of a part runs, given the facts of the loop that it belongs to. Items
/// that never do are gone; merges become such of two inputs, or pass on what their only input is.
/// Fails for merges of which not exactly one input is there whenever another part of the conditions
/// holds. `indices`: whose second output is needed.
result<deadness> find_deadness(flow_graph& in, int part, const std::set<int>& indices);

/// Says in words when something runs: "'p' is true and 'q' is false".
std::string to_text(const condition& when, const flow_graph& in, const deadness& all);

} // namespace troupe::graph_def

// The uses of variables, queues and tables by nodes. No other code derives them from ops.
#pragma once
#include "troupe/runtime/graph/graph.hpp"

#include <map>

namespace troupe {

/// A use of state by a node.
struct state_access {
  const node* state; ///< the node of the variable, queue or table
  int input;         ///< the index of the node's input
  bool updates;      ///< changes the state, may change it, or must be ordered like a change
  bool is_read;      ///< reads the tensor that a variable holds
};

/// Returns all uses of state by a node, in the order of its inputs. An input that takes a variable,
/// queue or table itself is an update, unless the op reads no elements (effect::reads_shapes_only).
std::vector<state_access> accesses_of(const node& source);

/// Returns whether the node has a ref input or reads a ref's value. Cheaper than accesses_of().
bool uses_state(const node& source) noexcept;

/// The updates that reads must see, in a graph that is sorted by dependence. The updates of one
/// variable run in the order of the graph (order_effects.hpp), so the last one determines the
/// value.
class update_order {
public:
  static constexpr int none = -1;

  explicit update_order(const graph& source);

  /// Returns the id of the last update of `state` that the node depends on, by data or control, or
  /// none.
  int last_seen_by(const node& reader, const node& state) const;
  /// Returns the id of the last update of `state` before the node, or none.
  int last_before(const node& reader, const node& state) const;
  /// Returns the id of the first update of `state` after this update (after none: the very first).
  int first_after(int update, const node& state) const;

private:
  struct updates {
    std::vector<int> ids;          // ascending
    mutable std::vector<int> seen; // by node id, from the first update on; computed on demand
  };

  const graph& graph_;
  std::map<const node*, updates> updates_by_state_;
};

} // namespace troupe

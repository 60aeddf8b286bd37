// Which variables, queues and tables a node uses, and how: the one place that knows.
#pragma once
#include "troupe/runtime/graph/graph.hpp"

#include <map>

namespace troupe {

/// One use of state by a node.
struct state_access {
  const node* state; ///< stands for the variable, queue or table
  int input;         ///< of the node
  bool updates;      ///< changes it, or may do so, or its order counts like that of a change
  bool as_value;     ///< takes the tensor that a variable holds: a read
};

/// All uses of state by a node, in the order of its inputs. An input that takes a variable, queue
/// or table itself is an update, unless the op looks at no elements (effect::of_shape).
std::vector<state_access> accesses_of(const node& of);

/// Whether the node takes a ref, itself or the value behind it. Costs less than the list.
bool uses_state(const node& of) noexcept;

/// Tells which update a read must see, in a graph that is ordered by dependence. The updates of one
/// variable happen in the order of the graph (order_effects.hpp), so that the last one says it.
class update_order {
public:
  static constexpr int none = -1;

  explicit update_order(const graph& of);

  /// The id of the last update of `state` that the node depends on, by data or by control, or none.
  int seen_by(const node& n, const node& state) const;
  /// The id of the last update of `state` that stands before the node, or none.
  int last_before(const node& n, const node& state) const;
  /// The id of the first update of `state` behind that one (or the very first, behind none).
  int first_after(int update, const node& state) const;

private:
  struct updates {
    std::vector<int> ids;          // rising
    mutable std::vector<int> seen; // by node id from the first update on; made when it is asked for
  };

  const graph& graph_;
  std::map<const node*, updates> of_;
};

} // namespace troupe

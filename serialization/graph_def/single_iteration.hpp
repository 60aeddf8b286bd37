// Nodes of a frame that run in one iteration only, and move out of the loop.
#pragma once
#include "troupe/serialization/graph_def/flow_graph.hpp"

namespace troupe::graph_def {

enum class iteration : uint8_t { first, last };

/// A frame while it is converted to a loop.
struct loop_frame {
  struct variable {
    int merge, next;
    source initial;              ///< the initial value: an Enter, or a node after one
    source result = {};          ///< the value of the next iteration
    int arguments[2] = {-1, -1}; ///< of the condition, of the body
  };
  int condition = -1; ///< the LoopCond
  int loop = -1;      ///< the item that replaces the frame
  std::vector<variable> variables;
  std::map<int, size_t> by_merge; ///< the variables
  std::set<int> by_switch;        ///< Switches by the LoopCond
  std::set<int> members;          ///< without the exits
};

/// An Identity between an Enter and its Merge runs in the first iteration of a loop. An Identity
/// between the first output of a Switch and an Exit runs in the last. (tf.tuple makes some, for
/// gated gradients.) Such nodes become nodes before and after the loop. They may read nodes that
/// run in each iteration, if these can be computed once more there.
class single_iteration_nodes {
public:
  single_iteration_nodes(flow_graph& graph, const loop_frame& frame)
      : graph_(graph), frame_(frame) {}

  /// Sorts the members of the frame by the iterations in which they run; `ordered` has each after
  /// its inputs.
  void sort(std::vector<int> ordered);

  bool runs_in(int item, iteration target) const { return single_[index(target)].contains(item); }
  /// Whether an item runs only in iterations whose condition holds.
  bool runs_in_body(int item) const { return body_.contains(item); }
  /// Whether an item has an effect in each iteration, or comes after one.
  bool acts(int item) const { return effectful_.contains(item); }

  /// Marks the nodes that the value needs in that iteration, and the effects that it waits for.
  status need(source value, iteration target);
  status need_control(int waiting, int control, iteration target);

  const std::set<int>& needed(iteration target) const { return needed_[index(target)]; }

  /// Moves all marked nodes of an iteration out of the loop. For the last one, the loop must exist.
  status move_out(iteration target);
  /// Finds a value of the frame in that iteration among the nodes outside of the loop.
  result<source> outside(source value, iteration target) const;
  /// The control inputs that a node keeps outside of the loop.
  std::set<int> outside_controls(int waiting, iteration target) const;

  /// Items that are no longer in the frame, and copies that never were.
  const std::vector<int>& moved() const { return moved_; }
  bool is_moved(int item) const { return moved_out_.contains(item); }
  /// Nodes with effects in each iteration that must have run.
  const std::set<int>& effects() const { return effects_; }

private:
  using side = std::pair<source, int>; // a predicate, and the output of its Switches

  static size_t index(iteration target) { return target == iteration::last ? 1 : 0; }
  bool ends(int item) const;
  std::set<side> sides_of(source value) const;
  void find_sides(int item);
  std::set<side> lost_sides(int item, iteration target) const;
  result<int> pivot(const side& needed_side, iteration target);
  result<source> behind(source value, iteration target) const;
  status place(int item, iteration target);

  flow_graph& graph_;
  const loop_frame& frame_;
  std::vector<int> ordered_;
  std::set<int> single_[2], body_, effectful_;
  std::set<int> needed_[2], effects_;
  std::unordered_map<int, std::set<side>> sides_; // of branches within the iteration
  std::unordered_map<int, source> predicates_;    // of Switches of such branches
  std::map<side, int> pivots_[2];
  std::unordered_map<int, int> placed_[2]; // the item outside of the loop for an item
  std::vector<int> moved_;
  std::set<int> moved_out_;
};

} // namespace troupe::graph_def

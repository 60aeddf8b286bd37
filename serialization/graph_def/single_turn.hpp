// Nodes of a frame that run in one turn only, and come to lie around the loop.
#pragma once
#include "troupe/serialization/graph_def/flow_graph.hpp"

namespace troupe::graph_def {

enum class turn : uint8_t { first, last };

/// A frame on its way to a loop.
struct loop_frame {
  struct variable {
    int merge, next;
    source initial;              ///< value enters: an Enter, or a node behind one
    source result = {};          ///< value the body gives
    int arguments[2] = {-1, -1}; ///< of the condition, of the body
  };
  int condition = -1; ///< the LoopCond
  int loop = -1;      ///< the item that takes the frame's place
  std::vector<variable> variables;
  std::map<int, size_t> by_merge; ///< the variables
  std::set<int> by_switch;        ///< Switches that the LoopCond decides
  std::set<int> members;          ///< without the exits
};

/// An Identity that something has put between an Enter and its Merge runs in the first turn of a
/// loop, and between the first output of a Switch and an Exit in the last (tf.tuple puts some
/// there, where gradients are gated). Such nodes become nodes before and behind the loop. They may
/// read value runs in each turn, as far as it can be computed once more there.
class single_turn_nodes {
public:
  single_turn_nodes(flow_graph& in, const loop_frame& of) : in_(in), frame_(of) {}

  /// Sorts the members of the frame by the turns that they run in; `ordered` has each after value
  /// it needs.
  void sort(std::vector<int> ordered);

  bool runs_in(int item, turn at) const { return own_[index(at)].contains(item); }
  /// Whether it runs only in turns whose condition holds.
  bool runs_in_body(int item) const { return body_.contains(item); }
  /// Whether an effect of the turn comes before it, or is its own.
  bool acts(int item) const { return acting_.contains(item); }

  /// Notes value the value needs in that turn, and the effects of each turn that it waits for.
  status need(source value, turn at);
  status need_control(int by, int control, turn at);

  const std::set<int>& needed(turn at) const { return needed_[index(at)]; }

  /// Puts all that was noted for a turn around the loop. For the last turn, the loop must be known.
  status move_out(turn at);
  /// Finds a value of the frame in that turn among the nodes around the loop.
  result<source> outside(source value, turn at) const;
  /// The control inputs that a node keeps around the loop.
  std::set<int> outside_controls(int by, turn at) const;

  /// Items that are no longer in the frame, and copies that never were.
  const std::vector<int>& moved() const { return moved_; }
  bool is_moved(int item) const { return moved_out_.contains(item); }
  /// Nodes of each turn, with effects, that must have run.
  const std::set<int>& effects() const { return effects_; }

private:
  using side = std::pair<source, int>; // a predicate, and the output of its Switches

  static size_t index(turn at) { return at == turn::last ? 1 : 0; }
  bool ends(int item) const;
  std::set<side> sides_of(source value) const;
  void find_sides(int item);
  std::set<side> lost_sides(int item, turn at) const;
  result<int> pivot(const side& of, turn at);
  result<source> behind(source value, turn at) const;
  status place(int item, turn at);

  flow_graph& in_;
  const loop_frame& frame_;
  std::vector<int> ordered_;
  std::set<int> own_[2], body_, acting_;
  std::set<int> needed_[2], effects_;
  std::unordered_map<int, std::set<side>> sides_; // of branches within the turn
  std::unordered_map<int, source> asked_;         // by Switches of such branches
  std::map<side, int> pivots_[2];
  std::unordered_map<int, int> placed_[2]; // value stands for an item around the loop
  std::vector<int> moved_;
  std::set<int> moved_out_;
};

} // namespace troupe::graph_def

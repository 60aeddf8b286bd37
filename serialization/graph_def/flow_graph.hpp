// A GraphDef with TensorFlow 1's control flow, on its way to one of branches and loops.
#pragma once
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/serialization/graph_def/values.hpp"

#include <compare>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace troupe::graph_def {

/// An output of an item.
struct source {
  int item = -1;
  int output = 0;
  auto operator<=>(const source&) const = default;
};

/// What an item does for control flow.
enum class flow : uint8_t {
  plain,
  either, ///< Switch
  merge,
  enter,
  leave, ///< Exit
  next,  ///< NextIteration
  loop_cond,
  trigger, ///< ControlTrigger
  // What becomes of them.
  argument, ///< a loop variable, as a turn is given it
  pass,     ///< its only input, a merge of one
  branch,   ///< an If of parts: then, otherwise
  loop,     ///< a While of parts: condition, body
  gone,     ///< it never runs, or nothing is left of it
};

/// A node. A merge of two has one input of either branch, that for a true predicate first.
struct item {
  NodeDef def; ///< without its inputs
  flow kind = flow::plain;
  bool by_ref = false;        ///< RefSwitch and the like
  std::vector<source> data;   ///< of a loop: what enters, first that of its variables
  std::vector<int> controls;  ///< items
  std::vector<int> order;     ///< items that come before, though it does not need them
  int part = -1;              ///< where it is
  std::vector<int> parts;     ///< of a branch or loop
  size_t variables = 0;       ///< of a loop
  std::vector<int> keeps_ref; ///< which loop variables, or results of a branch, may be state
  int predicate = -1;         ///< of a merge of two, its number in the part (deadness)
  int branch = -1;            ///< of such a merge: the branch that it is a result of
  int slot = -1;              ///< which result; of an argument, which variable
  source index;               ///< its second output
  /// Of a loop: predicates around it, and their values wherever the loop runs.
  std::vector<std::pair<source, bool>> facts = {};
};

/// Nodes that one function has, or the graph.
struct part {
  int owner = -1; ///< the branch or loop; -1: it is the graph
  std::vector<int> items;
  std::vector<source> results; ///< item -1: none, as it is dead
};

/// The nodes as numbers. Items are never removed.
class flow_graph {
public:
  flow_graph(GraphDef& from, const registry& ops) : from_(from), ops_(ops) {}

  /// Whether there is anything to raise.
  static bool has_flow(const GraphDef& from);

  /// Takes all nodes out of the GraphDef, and checks that control flow has as many inputs as it
  /// needs.
  status take();

  item& at(int i) { return items_[static_cast<size_t>(i)]; }
  const item& at(int i) const { return items_[static_cast<size_t>(i)]; }
  int size() const { return static_cast<int>(items_.size()); }
  part& part_at(int i) { return parts_[static_cast<size_t>(i)]; }
  int parts() const { return static_cast<int>(parts_.size()); }
  const registry& ops() const { return ops_; }

  int add(item made);
  int add_part(int owner);
  void move(int which, int to_part);
  /// Whether the part can run: its branches and loops are not gone.
  bool is_alive(int part) const;
  /// Makes a name that no node has, and takes it.
  std::string unique(const std::string& like);

  std::string described(int i) const; ///< `Switch 'a'`
  std::string named(source what) const;
  /// Follows exits of loops that have become items, and second outputs of merges that have.
  source behind_exits(source what) const;
  int behind_exits(int control) const;

  /// Calls `replace` with each input of the nodes and results of a part, and of the parts within.
  status replace_reads(int part, const std::function<status(source&)>& replace);

  bool has_effect(int i) const;
  /// Whether what the edge carries is a variable by reference.
  bool is_reference(source what) const;
  /// How many outputs a node has, as far as its attributes say.
  int outputs_of(int i) const;

  /// Orders the items so that each comes after what it needs of them.
  result<std::vector<int>> ordered(const std::vector<int>& which) const;

  /// What was a node, and why it cannot be looked up.
  std::map<std::string, std::string, std::less<>> hidden;
  /// Of items: the loop that took the place of an exit, with its result.
  std::unordered_map<int, source> exits;

private:
  status read_inputs(int i);

  GraphDef& from_;
  const registry& ops_;
  std::vector<item> items_;
  std::vector<part> parts_;
  std::unordered_map<std::string, int> by_name_;
  std::set<std::string> names_;
};

/// Whether an op is control flow of TensorFlow 1, and what.
flow flow_of(std::string_view op);
/// Which output an op of control flow calls so; -1 if none.
int flow_output(std::string_view op, std::string_view output);

} // namespace troupe::graph_def

// A GraphDef with TensorFlow 1's control flow, while it is converted to branches and loops.
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

/// The role of an item in control flow.
enum class flow : uint8_t {
  plain,
  switch_node,
  merge,
  enter,
  exit,
  next_iteration,
  loop_cond,
  trigger, ///< ControlTrigger
  // Kinds after the conversion.
  argument, ///< a loop variable at the start of an iteration
  pass,     ///< a merge of one input, which it passes on
  branch,   ///< an If, with parts for true and false
  loop,     ///< a While, with parts for the condition and the body
  removed,  ///< never runs, or was replaced
};

/// A node. A merge of two inputs has one of either branch, that for a true predicate first.
struct item {
  NodeDef def; ///< without its inputs
  flow kind = flow::plain;
  bool by_ref = false;        ///< RefSwitch and the like
  std::vector<source> data;   ///< of a loop: its inputs, initial values of variables first
  std::vector<int> controls;  ///< items
  std::vector<int> order;     ///< items that come before, without a dependency
  int part = -1;              ///< that contains the item
  std::vector<int> parts;     ///< of a branch or loop
  size_t variables = 0;       ///< of a loop
  std::vector<int> keeps_ref; ///< which loop variables, or results of a branch, may be state
  int predicate = -1;         ///< of a merge of two: its index in the part's deadness
  int branch = -1;            ///< of such a merge: the branch of which it is a result
  int slot = -1;              ///< the index of the result; of an argument, of the variable
  source index;               ///< the second output of a merge
  /// Of a loop: predicates outside of it that are constant while the loop runs, and their values.
  std::vector<std::pair<source, bool>> facts = {};
};

/// The nodes of one function, or of the graph.
struct part {
  int owner = -1; ///< the branch or loop; -1: the graph
  std::vector<int> items;
  std::vector<source> results; ///< item -1: a dead result
};

/// Nodes by number. Items are never removed.
class flow_graph {
public:
  flow_graph(GraphDef& from, const registry& ops) : from_(from), ops_(ops) {}

  /// Whether the GraphDef has control flow of TensorFlow 1.
  static bool has_flow(const GraphDef& from);

  /// Takes all nodes out of the GraphDef, and checks the number of inputs of control flow ops.
  status take();

  item& at(int i) { return items_[static_cast<size_t>(i)]; }
  const item& at(int i) const { return items_[static_cast<size_t>(i)]; }
  int size() const { return static_cast<int>(items_.size()); }
  part& part_at(int i) { return parts_[static_cast<size_t>(i)]; }
  int parts() const { return static_cast<int>(parts_.size()); }
  const registry& ops() const { return ops_; }

  int add(item added);
  int add_part(int owner);
  void move(int moved, int to_part);
  /// Whether the part can run: none of its branches and loops was removed.
  bool is_alive(int part) const;
  /// Makes and reserves a name that no node has.
  std::string unique(const std::string& base_name);

  std::string described(int i) const; ///< `Switch 'a'`
  std::string named(source value) const;
  /// Follows exits of converted loops, and second outputs of converted merges.
  source behind_exits(source value) const;
  int behind_exits(int control) const;

  /// Calls `replace` with each input and result of a part and of the parts within.
  status replace_reads(int part, const std::function<status(source&)>& replace);

  bool has_effect(int i) const;
  /// Whether the edge carries a variable by reference.
  bool is_reference(source value) const;
  /// The number of outputs of a node, as far as its attributes determine it.
  int outputs_of(int i) const;

  /// Orders the items so that each comes after those it depends on.
  result<std::vector<int>> ordered(const std::vector<int>& items) const;

  /// Names of removed nodes, each with the reason why it cannot be looked up.
  std::map<std::string, std::string, std::less<>> hidden;
  /// Exits that were replaced, each with the loop and its result.
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

/// The role of an op in control flow of TensorFlow 1; plain for other ops.
flow flow_of(std::string_view op);
/// The index of a named output of a control flow op; -1 if there is none.
int flow_output(std::string_view op, std::string_view output);

} // namespace troupe::graph_def

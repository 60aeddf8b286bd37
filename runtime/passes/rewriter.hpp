// Changes a graph that a step owns: every pass is a walk over its nodes with this at hand.
#pragma once
#include "troupe/runtime/graph/f32_transfer.hpp"
#include "troupe/runtime/passes/extract.hpp"

#include <functional>

namespace troupe {

/// Says whether a node does nothing but compute its outputs from the values of its inputs: it may
/// be run once for many, earlier, or not at all.
bool is_pure(const node& node) noexcept;

/// Sorts by id, which does not vary from run to run, and drops what comes twice.
void sort_controls(std::vector<node*>& controls);

/// Redirects edges, adds nodes, and at the end drops what nobody needs any more. A walk visits the
/// nodes in order, calls refresh() for each, and may then replace it.
class rewriter {
public:
  explicit rewriter(step_graph& of);
  rewriter(const rewriter&) = delete;
  rewriter& operator=(const rewriter&) = delete;

  troupe::graph& graph() noexcept { return graph_; }

  /// The nodes from before, each after what it depends on. New ones are not among them.
  std::span<node* const> nodes() const noexcept { return nodes_; }

  /// Points inputs and controls to what stands for them by now, and learns more of the shapes.
  void refresh(node& node);

  /// From now on `by` stands for the outputs of a pure node. Refused (false) where a reader would
  /// no longer come after what it came after, where `by` depends on the node, for another type, and
  /// for a shape that contradicts.
  bool replace(node& old, const std::vector<edge>& by);
  /// The same for nodes with as many outputs, which depend on the same.
  void merge(node& old, node& by);
  /// The same where other edges stand for the outputs, which all come after whatever `old` does.
  void merge(node& old, const std::vector<edge>& by);
  bool is_replaced(const node& node) const noexcept { return by_[index(node)].node != nullptr; }
  edge now(edge what) const noexcept; ///< what stands for it

  /// Adds a node that is reported as `like`: with its device and origin.
  result<node*> add(node_spec spec, const node& like);
  /// Adds a Const.
  result<node*> add_constant(tensor value, const node& like);
  /// The node takes over the name of one that was replaced.
  void take_name(node& to, const node& from);

  void set_input(node& of, int input, edge to);
  void set_controls(node& of, std::vector<node*> controls);

  bool is_target(const node& node) const noexcept;

  /// Drops nodes that have no effect and that no fetch, target or effect needs, and restores the
  /// order. Throws std::logic_error where the changes have made a cycle.
  void finish();

  static void set_device(node& of, std::string device);
  /// Where it names none, and does not take state itself: that says where it runs.
  static void set_default_device(node& of, const std::string& device);
  /// Puts it into the groups of nodes of these names, and into no other.
  static void set_colocation(node& of, const std::vector<std::string>& with);
  /// Says how its outputs of f32, if it has any, travel between tasks, unless it says so itself.
  static void set_transfer(node& of, f32_transfer how);
  /// Points an input somewhere else in the same graph, before the node.
  static void redirect(node& of, int input, edge to);
  /// Calls `change` with each function that the node runs.
  static status change_functions(node& of, const std::function<status(function_value&)>& change);

  /// Puts all nodes into another order of dependence.
  static void reorder(troupe::graph& of, std::span<node* const> order);

private:
  static size_t index(const node& node) noexcept { return static_cast<size_t>(node.id()); }
  bool is_new(const node& node) const noexcept { return index(node) >= nodes_.size(); }
  bool depends_on(const node& what, const std::vector<edge>& edges) const;
  bool keeps_effects(const node& old, const std::vector<edge>& by) const;
  void note_order(const node& old, const std::vector<edge>& by);
  void learn_shapes(node& node);
  void note(const node& node);

  step_graph& of_;
  troupe::graph& graph_;
  std::vector<node*> nodes_;
  std::vector<edge> by_;                   // by node id; an index below 0 has a meaning of its own
  std::vector<std::vector<edge>> several_; // what stands for nodes of several outputs
  std::vector<bool> learned_;              // by node id: more is known of its shapes than before
  std::vector<bool> after_effects_;        // by node id: depends on an effect, or has one
  std::vector<size_t> latest_;             // by node id: the last of the nodes from before that a
                                           // new one depends on; of those themselves, their own
  std::vector<const node*> targets_;       // sorted
  bool changed_ = false;
  bool replaced_by_later_ = false; // by a node from before that came after what it replaced
};

} // namespace troupe

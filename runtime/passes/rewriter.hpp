// Changes a graph that a step owns. Every pass visits the nodes and changes them through a
// rewriter.
#pragma once
#include "troupe/runtime/graph/f32_transfer.hpp"
#include "troupe/runtime/passes/extract.hpp"

#include <functional>

namespace troupe {

/// Returns whether a node only computes its outputs from the values of its inputs, so that it may
/// run once instead of several times, earlier, or not at all.
bool is_pure(const node& node) noexcept;

/// Sorts by id, which is the same in each run, and removes duplicates.
void sort_controls(std::vector<node*>& controls);

/// Redirects edges, adds nodes, and finally removes nodes that are not needed. A pass visits the
/// nodes in order, calls refresh() for each, and may then replace it.
class rewriter {
public:
  explicit rewriter(step_graph& step);
  rewriter(const rewriter&) = delete;
  rewriter& operator=(const rewriter&) = delete;

  troupe::graph& graph() noexcept { return graph_; }

  /// Returns the original nodes, each after its dependencies, without added nodes.
  std::span<node* const> nodes() const noexcept { return nodes_; }

  /// Updates inputs and controls to their replacements, and infers shapes again.
  void refresh(node& node);

  /// Replaces the outputs of a pure node. Returns false without a change if a reader would no
  /// longer run after a node that it depends on, if a replacement depends on the node, if a type
  /// differs, or if a shape is incompatible.
  bool replace(node& old, const std::vector<edge>& replacements);
  /// Replaces a node by a node with the same outputs and the same dependencies.
  void merge(node& old, node& replacement);
  /// Replaces the outputs by edges that all come after the dependencies and effects of `old`.
  void merge(node& old, const std::vector<edge>& replacements);
  bool is_replaced(const node& node) const noexcept {
    return replacements_[index(node)].node != nullptr;
  }
  edge replacement_of(edge source) const noexcept; ///< returns the current replacement of an edge

  /// Adds a node with the device and the origin of `like`, so that errors name `like`.
  result<node*> add(node_spec spec, const node& like);
  /// Adds a Const.
  result<node*> add_constant(tensor value, const node& like);
  /// Gives a node the name of a node that was replaced.
  void take_name(node& target, const node& source);

  void set_input(node& target, int input, edge source);
  void set_controls(node& target, std::vector<node*> controls);

  bool is_target(const node& node) const noexcept;

  /// Removes nodes without effects that no fetch, target or effect needs, and restores the order.
  /// Throws std::logic_error if the changes have made a cycle.
  void finish();

  static void set_device(node& target, std::string device);
  /// Sets the device of a node without one, unless the node takes state itself: the state
  /// determines its device.
  static void set_default_device(node& target, const std::string& device);
  /// Puts a node into the colocation groups of these names, and removes it from all others.
  static void set_colocation(node& target, const std::vector<std::string>& groups);
  /// Sets the transfer encoding of f32 outputs, unless the node has one.
  static void set_transfer(node& target, f32_transfer transfer);
  /// Sets an input to an edge of the same graph that comes before the node.
  static void redirect(node& target, int input, edge source);
  /// Calls `change` with each function that the node runs.
  static status change_functions(node& target,
                                 const std::function<status(function_value&)>& change);

  /// Puts all nodes into another topological order.
  static void reorder(troupe::graph& target, std::span<node* const> order);

private:
  static size_t index(const node& node) noexcept { return static_cast<size_t>(node.id()); }
  bool is_new(const node& node) const noexcept { return index(node) >= nodes_.size(); }
  bool depends_on(const node& dependency, const std::vector<edge>& edges) const;
  bool keeps_effects(const node& old, const std::vector<edge>& replacements) const;
  void record_order(const node& old, const std::vector<edge>& replacements);
  void infer_shapes(node& node);
  void record_dependences(const node& node);

  step_graph& step_;
  troupe::graph& graph_;
  std::vector<node*> nodes_;
  std::vector<edge> replacements_; // by node id; for negative indices see rewriter.cpp
  std::vector<std::vector<edge>> replacement_lists_; // replacements of nodes with several outputs
  std::vector<bool> has_new_shapes_;      // by node id: its shapes have become more specific
  std::vector<bool> after_effects_;       // by node id: depends on an effect, or has one
  std::vector<size_t> latest_dependency_; // by node id: for a new node, the last original node that
                                          // it depends on; for an original node, its own id
  std::vector<const node*> targets_;      // sorted
  bool changed_ = false;
  bool replaced_by_later_ = false; // an original node was replaced by one that was after it
};

} // namespace troupe

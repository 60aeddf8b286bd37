// The interface by which an op's gradient function reads a node and adds the nodes of its gradient.
#pragma once
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe {

class function_gradients;

/// A node to differentiate, and the gradients with respect to its outputs.
class TROUPE_API gradient_context {
public:
  /// `needed_inputs` tells for each input whether its gradient is needed; empty: all are needed.
  gradient_context(node& differentiated, std::vector<edge> output_gradients,
                   std::vector<bool> needed_inputs = {}, function_gradients* functions = nullptr)
      : node_(differentiated), output_gradients_(std::move(output_gradients)),
        needed_inputs_(std::move(needed_inputs)), functions_(functions) {}

  int inputs() const noexcept { return static_cast<int>(node_.inputs().size()); }
  // The functions below throw troupe::error for an input or output that the node does not have.
  edge input(int i) const {
    return node_.inputs()[checked_index(i, "input", node_.inputs().size())];
  }
  edge output(int i) const { return node_.output(i); }
  /// Returns the gradient with respect to an output; zeros if no result depends on the output.
  edge output_gradient(int i);
  /// Returns whether a result depends on the output. If not, its contribution can be omitted.
  bool has_output_gradient(int i) const {
    return bool(output_gradients_[checked_index(i, "output", output_gradients_.size())]);
  }
  template <class T>
  const T& attr(std::string_view name) const {
    return node_.attr<T>(name);
  }
  const node& source_node() const noexcept { return node_; }
  /// Returns whether the gradient with respect to an input is needed.
  bool needs_gradient(int i) const {
    return needed_inputs_.empty() ||
           needed_inputs_[checked_index(i, "input", needed_inputs_.size())];
  }

  /// For nodes that run functions (function_gradient.hpp): the node, whose inputs and outputs the
  /// gradient extends, and the state that all gradients of one call share about functions.
  node& mutable_node() noexcept { return node_; }
  function_gradients* functions() const noexcept { return functions_; }

  /// Adds a node, with a name in the gradient's scope.
  edge op(std::string type, std::vector<edge> inputs, attr_map attrs = {}, int output = 0);
  edge constant(tensor value);

  /// Records an error that names this node, and returns no gradients.
  edges fail(std::string_view reason);

private:
  size_t checked_index(int i, std::string_view kind, size_t count) const {
    return detail::checked_index(node_.name(), kind, i, count);
  }

  node& node_;
  std::vector<edge> output_gradients_;
  std::vector<bool> needed_inputs_;
  function_gradients* functions_;
};

/// Returns whether a type has gradients. They have the type of the value; those of lists are lists.
/// Integers and strings have none.
inline bool carries_gradients(dtype type) {
  return (floating | complex_types | one_of(dtype::variant)).contains(type);
}

} // namespace troupe

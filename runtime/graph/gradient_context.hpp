// The view that an op's gradient function has of its node.
#pragma once
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe {

class function_gradients;

/// A node whose gradient is taken, and the gradients that reach its outputs.
class TROUPE_API gradient_context {
public:
  /// `wanted` says for each input whether anybody wants its gradient; all where it is empty.
  gradient_context(node& of, std::vector<edge> output_gradients, std::vector<bool> wanted = {},
                   function_gradients* functions = nullptr)
      : node_(of), output_gradients_(std::move(output_gradients)), wanted_(std::move(wanted)),
        functions_(functions) {}

  int inputs() const noexcept { return static_cast<int>(node_.inputs().size()); }
  // These throw troupe::error for an input or output that the node does not have.
  edge input(int i) const { return node_.inputs()[place(i, "input", node_.inputs().size())]; }
  edge output(int i) const { return node_.output(i); }
  /// The gradient with respect to an output; zeros where nothing depends on that output.
  edge output_gradient(int i);
  /// Says whether anything depends on that output: if not, its share need not be computed.
  bool has_output_gradient(int i) const {
    return bool(output_gradients_[place(i, "output", output_gradients_.size())]);
  }
  template <class T>
  const T& attr(std::string_view name) const {
    return node_.attr<T>(name);
  }
  const node& of() const noexcept { return node_; }
  /// Whether the gradient with respect to an input is of any use.
  bool wants(int i) const { return wanted_.empty() || wanted_[place(i, "input", wanted_.size())]; }

  /// For nodes that run functions (function_gradient.hpp): the node, which they widen, and what all
  /// gradients that are taken at once know of functions.
  node& widens() noexcept { return node_; }
  function_gradients* functions() const noexcept { return functions_; }

  /// Adds a node, named within the gradient's scope.
  edge op(std::string type, std::vector<edge> inputs, attr_map attrs = {}, int output = 0);
  edge constant(tensor value);

  /// Gives up on this node with an error that names it.
  edges fail(std::string_view why);

private:
  size_t place(int i, std::string_view kind, size_t count) const {
    return detail::checked_index(node_.name(), kind, i, count);
  }

  node& node_;
  std::vector<edge> output_gradients_;
  std::vector<bool> wanted_;
  function_gradients* functions_;
};

/// Gradients are taken in the type of the value; whole numbers and strings carry none. Those of
/// lists are lists.
inline bool carries_gradients(dtype type) {
  return (floating | complex_types | one_of(dtype::variant)).contains(type);
}

} // namespace troupe

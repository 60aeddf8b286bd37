// The interface by which an op's simplify function reads a node and builds its replacement.
#pragma once
#include "troupe/runtime/graph/graph.hpp"

namespace troupe {

class simplify_context {
public:
  simplify_context(const node& simplified, rewriter& rewriting)
      : node_(simplified), rewriter_(rewriting) {}

  int inputs() const noexcept { return static_cast<int>(node_.inputs().size()); }
  const edge& input(int i) const { return node_.inputs()[static_cast<size_t>(i)]; }
  dtype output_type() const { return node_.output_type(0); }
  const partial_shape& output_shape() const { return node_.output_shape(0); }
  template <class T>
  const T& attr(std::string_view name) const {
    return node_.attr<T>(name);
  }

  /// Returns the value of a constant input, or nullptr.
  const tensor* constant(int i) const noexcept { return constant_value(input(i)); }
  /// Returns whether the input is a constant and all of its elements equal this number.
  bool is_all(int i, double value) const;
  /// Returns the elements of a constant i32 or i64 input.
  std::optional<std::vector<int64_t>> integers(int i) const;
  /// Returns whether the output has the input's shape in every run, so that no input broadcasts it.
  bool keeps_shape_of(int i) const;
  /// Returns the node behind an input if it has the same op and may be merged, or nullptr.
  const node* same_op_behind(int i) const noexcept;

  /// Adds a node with this node's description. Returns an empty edge on failure.
  edge op(std::string name, std::vector<edge> inputs, attr_map attrs = {});
  edge constant(tensor value);

private:
  const node& node_;
  rewriter& rewriter_;
};

} // namespace troupe

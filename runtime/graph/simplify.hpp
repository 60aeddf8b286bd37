// What an op's simplify function sees of a node, and what it can build instead.
#pragma once
#include "troupe/runtime/graph/graph.hpp"

namespace troupe {

class simplify_context {
public:
  simplify_context(const node& of, rewriter& change) : node_(of), change_(change) {}

  int inputs() const noexcept { return static_cast<int>(node_.inputs().size()); }
  const edge& input(int i) const { return node_.inputs()[static_cast<size_t>(i)]; }
  dtype output_type() const { return node_.output_type(0); }
  const partial_shape& output_shape() const { return node_.output_shape(0); }
  template <class T>
  const T& attr(std::string_view name) const {
    return node_.attr<T>(name);
  }

  /// The value of an input where it is constant, or nullptr.
  const tensor* constant(int i) const noexcept { return constant_value(input(i)); }
  /// Says whether the input is a constant, all of whose elements are this number.
  bool is_all(int i, double value) const;
  /// The elements of a constant i32 or i64 input.
  std::optional<std::vector<int64_t>> integers(int i) const;
  /// Says whether the output has the shape of the input in every run: no other input stretches it.
  bool keeps_shape_of(int i) const;
  /// The node behind an input if it is of the same op and may be looked through, or nullptr.
  const node* same_op_behind(int i) const noexcept;

  /// Adds a node that is reported as this one. An edge to nothing where that fails.
  edge op(std::string name, std::vector<edge> inputs, attr_map attrs = {});
  edge constant(tensor value);

private:
  const node& node_;
  rewriter& change_;
};

} // namespace troupe

// Ops that change variables given by handles, as in graphs of TensorFlow 2.
//
// They differ from the ops that take references in the names of ops, ports and attributes, and they
// do not output the variable. The computation and the kernels are the same
// (docs/decisions/041-resource-variables.md).
#pragma once
#include "troupe/runtime/graph/kernel.hpp"
#include "troupe/runtime/graph/op.hpp"

#include <deque>
#include <string>

namespace troupe {

/// The definition described by an op's `by_handle`.
struct handle_op {
  explicit handle_op(const op_def& ref_op);
  handle_op(const handle_op&) = delete;
  handle_op& operator=(const handle_op&) = delete;

  /// Adds a copy of a kernel of the original op for this op, and returns it.
  const kernel_def& add(const kernel_def& original);

  const std::string doc, example; // the definition refers to these texts
  const op_def op;

private:
  const std::string_view original_type_;
  std::deque<kernel_def> kernels_;
};

/// Returns the text with each whole word `from` replaced by `to`.
std::string replace_word(std::string_view text, std::string_view from, std::string_view to);

} // namespace troupe

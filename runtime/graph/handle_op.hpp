// Ops that change variables given by handles, as graphs of TensorFlow 2 have them.
//
// They differ from those that take references in their names, in those of some ports and
// attributes, and in that they hand no variable on. What they do is the same, and the same kernels
// do it (docs/decisions/041-resource-variables.md).
#pragma once
#include "troupe/runtime/graph/kernel.hpp"
#include "troupe/runtime/graph/op.hpp"

#include <deque>
#include <string>

namespace troupe {

/// The definition that an op's `by_handle` asks for.
struct handle_op {
  explicit handle_op(const op_def& of);
  handle_op(const handle_op&) = delete;
  handle_op& operator=(const handle_op&) = delete;

  /// The op's kernel, for this one.
  const kernel_def& add(const kernel_def& like);

  const std::string doc, example; // the definition only refers to texts
  const op_def op;

private:
  const std::string_view type_before_;
  std::deque<kernel_def> kernels_;
};

/// The text with each whole word `from` replaced.
std::string with_word(std::string_view text, std::string_view from, std::string_view to);

} // namespace troupe

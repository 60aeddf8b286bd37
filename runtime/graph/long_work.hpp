// What takes long and may block, such as reading and writing files: a thread of its own does it for
// a node, and the threads that steps need go on meanwhile.
#pragma once
#include "troupe/runtime/fwd.hpp"
#include "troupe/runtime/types/status.hpp"
#include "troupe/runtime/types/tensor.hpp"

#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace troupe {

/// One run of a node. The node and the inputs stay until the work has returned.
struct work_context {
  const node& of;
  std::span<const tensor> inputs; ///< on the host
  /// Whether the step has failed: nobody sees the outputs then. Asked between parts of the work.
  std::function<bool()> stopped = [] { return false; };
};

/// Returns the node's outputs.
using work_fn = result<std::vector<tensor>> (*)(const work_context&);

/// A blocking op that no state answers (op_def::ask): a task does its work on one thread, in the
/// order in which it is asked for.
struct work_def {
  std::string_view op;
  work_fn run = nullptr;
};

} // namespace troupe

// Long work of a node that may block, such as reading and writing files. It runs on a separate
// thread, so the threads of steps stay available.
#pragma once
#include "troupe/runtime/fwd.hpp"
#include "troupe/runtime/types/status.hpp"
#include "troupe/runtime/types/tensor.hpp"

#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace troupe {

/// A run of a node. The node and the inputs stay valid until the work returns.
struct work_context {
  const node& origin;
  std::span<const tensor> inputs; ///< in host memory
  /// Returns whether the step has failed, so that the outputs are not used. Polled by the work.
  std::function<bool()> stopped = [] { return false; };
};

/// Returns the node's outputs.
using work_fn = result<std::vector<tensor>> (*)(const work_context&);

/// The work of a blocking op that waits for no waitable resource (op_def::start_operation is null).
/// A task runs all such work on one thread, in the order of the requests.
struct work_def {
  std::string_view op;
  work_fn run = nullptr;
};

} // namespace troupe

// Passes over nodes that run functions.
#pragma once
#include "troupe/runtime/passes/extract.hpp"

#include <functional>

namespace troupe {

/// Replaces calls by the nodes of their functions, repeatedly; also branches whose choice is
/// constant. The new nodes are named `call/node`. Recursive calls and calls with `_noinline` are
/// kept. Fails if nested copies would exceed a million nodes.
status inline_calls(step_graph& step);

/// Returns whether a node of a graph runs as a frame. Within a block, no node does.
using frame_rule = std::function<bool(const node&)>;

/// Calls `change` with each function that nodes run, once for all nodes that run the same function.
/// Skips functions that run as frames, because these become graphs of steps.
status change_functions(step_graph& step, const frame_rule& is_frame,
                        const std::function<status(step_graph&)>& change);

} // namespace troupe

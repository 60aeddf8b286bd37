// What passes do with nodes that run functions.
#pragma once
#include "troupe/runtime/passes/extract.hpp"

#include <functional>

namespace troupe {

/// Puts the nodes of functions in the place of their calls, of branches whose choice is constant as
/// well, again and again; they are named `call/node`. Calls of functions that call themselves stay,
/// and those that say `_noinline`. Fails where copies of copies would become more than a million
/// nodes.
status inline_calls(step_graph& of);

/// Whether a node of a graph runs as a frame. None does within a block.
using frame_rule = std::function<bool(const node&)>;

/// Changes each function that a node runs, once for all nodes that run it; but for those that run
/// as frames, which become graphs of steps.
status change_functions(step_graph& of, const frame_rule& is_frame,
                        const std::function<status(step_graph&)>& change);

} // namespace troupe

// Completes branches and loops whose functions were built one after the other in the same graph, so
// that all functions take the same captures.
#pragma once
#include "troupe/runtime/functions/function_body.hpp"

namespace troupe {

/// A function whose nodes have been added and that can still capture more edges.
struct built_function {
  std::unique_ptr<function_body> body;
  std::vector<edge> results; ///< edges of the body
};

/// Captures the edges that the other functions have captured, in their order. The captures of
/// `built` must be the first of them.
TROUPE_API status capture_remaining(built_function& built, const std::vector<edge>& captured);

/// Completes a node that selects a branch: `inputs` has the selector, and the captures are
/// appended. Sets op, functions and controls. Each branch was started with the captures of the
/// branch before. Fails if branches return different types.
TROUPE_API status complete_branches(node_spec& choice, std::vector<built_function> branches,
                                    bool by_number);

/// Completes a loop: `inputs` has the initial values of its variables, as many as `body` returns,
/// and the captures are appended. `body` was started with the captures of `condition`.
TROUPE_API status complete_loop(node_spec& loop, built_function condition, built_function body);

} // namespace troupe

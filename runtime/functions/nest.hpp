// Makes branches and loops of functions that were built one after the other in the same graph: what
// one of them takes from outside, all of them take.
#pragma once
#include "troupe/runtime/functions/function_body.hpp"

namespace troupe {

/// A function whose nodes have been added, and that can still take more from outside.
struct built_function {
  std::unique_ptr<function_body> body;
  std::vector<edge> results; ///< edges of the body
};

/// Makes `of` take what the others have taken from outside, in their order. They began with what it
/// had captured itself.
TROUPE_API status capture_rest(built_function& of, const std::vector<edge>& all);

/// Completes a node that chooses: `inputs` is what it chooses by, and what is captured follows.
/// Sets op, functions and controls. Each branch began with what the one before has captured. Fails
/// where branches return different types.
TROUPE_API status complete_branches(node_spec& choice, std::vector<built_function> branches,
                                    bool by_number);

/// Completes a loop: `inputs` are the first values of its variables, as many as `turn` returns, and
/// what is captured follows. `turn` began with what `condition` has captured.
TROUPE_API status complete_loop(node_spec& loop, built_function condition, built_function turn);

} // namespace troupe

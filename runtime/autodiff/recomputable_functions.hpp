// Nodes that run functions which gradients can recompute.
#pragma once
#include "troupe/runtime/graph/function.hpp"

namespace troupe {

/// Returns whether the functions of a node return the same results when they run again with the
/// same values: they draw no random numbers, have no effects, and use state only to read variables.
bool functions_are_recomputable(const node& caller);

/// Returns a copy of a node of another graph whose functions are recomputable. `inputs` has values
/// in place of the variables that the functions read. A failure is returned in `outcome`.
node_spec clone_with_values(const node& source, std::vector<edge> inputs, status& outcome);

} // namespace troupe

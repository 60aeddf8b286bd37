// Finds the part of a graph that a step must run (white paper 4.2).
#pragma once
#include "troupe/runtime/graph/step_signature.hpp"

namespace troupe {

/// Returns the nodes that must run, in topological order. Includes all members of the collective
/// groups of these nodes (graph/collective.hpp). Updates of variables come as late as possible: a
/// read that does not depend on an update comes before it. Fails for an empty edge, an edge of
/// another graph, an edge that is fed twice, a fed variable that a node takes itself (such as to
/// assign it), a node that must be fed and is not, and a cycle.
result<std::vector<node*>> prune(const graph& source, const step_signature& signature);

} // namespace troupe

// Finds the part of a graph that a step needs (white paper 4.2).
#pragma once
#include "troupe/runtime/graph/step_signature.hpp"

namespace troupe {

/// The nodes that must run, each after what it needs, with all members of the groups to which they
/// belong (graph/collective.hpp), and updates of variables as late as that allows: a read that does
/// not depend on an update comes before it. Fails for an edge to nothing, an edge of another graph,
/// an edge fed twice, a variable that is fed and that a node takes itself, such as to assign it, a
/// node that has a value only when fed and is not, and a cycle.
result<std::vector<node*>> prune(const graph& of, const step_signature& signature);

} // namespace troupe

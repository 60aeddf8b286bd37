// Extracts the part of a graph that a step runs into a separate graph, which passes may change.
#pragma once
#include "troupe/runtime/passes/prune.hpp"

#include <memory>

namespace troupe {

/// The graph that a step runs. _Feed nodes are the inputs from the client and _Fetch nodes the
/// outputs to it. Each node comes after its dependencies.
struct step_graph {
  std::unique_ptr<graph> nodes;
  std::vector<node*> targets; ///< run even if no node reads them
};

/// Copies the nodes that the step needs; the user's graph is not changed. Names, devices and
/// origins are kept, so that errors name the user's nodes. Fails as prune() does.
result<step_graph> extract(const graph& source, const step_signature& signature);

/// Returns a copy, which passes may change independently.
step_graph copy_of(const step_graph& source);

} // namespace troupe

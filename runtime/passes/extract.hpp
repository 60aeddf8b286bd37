// Makes the part of a graph that a step runs into a graph of its own, which passes may change.
#pragma once
#include "troupe/runtime/passes/prune.hpp"

#include <memory>

namespace troupe {

/// What a step runs. _Feed nodes stand for what the client gives, _Fetch nodes for what it gets;
/// each node comes after what it depends on.
struct step_graph {
  std::unique_ptr<graph> nodes;
  std::vector<node*> targets; ///< run even if nobody reads them
};

/// Copies what the step needs; the user's graph stays as it is. Names, devices and origins are
/// kept, so that errors name the user's nodes. Fails as prune() does.
result<step_graph> extract(const graph& of, const step_signature& signature);

/// Copies it, so that passes may change the copy.
step_graph copy_of(const step_graph& what);

} // namespace troupe

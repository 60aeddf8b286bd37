// Differentiation: extends a graph by the nodes that compute gradients (white paper 4.1).
#pragma once
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/graph/gradient_context.hpp"
#include "troupe/runtime/graph/graph.hpp"

namespace troupe {

/// Returns d(sum of all ys)/dx for each x, as edges to new nodes under the scope "gradients".
/// `ys_gradients`, when given, weighs the ys (same shapes); by default ones. An x on which no y
/// depends gets an edge to nothing. Fails, naming the node, where a gradient on the way is not
/// defined.
TROUPE_API result<std::vector<edge>>
gradients(std::vector<edge> ys, std::vector<edge> xs, std::vector<edge> ys_gradients = {},
          std::source_location where = std::source_location::current());

} // namespace troupe

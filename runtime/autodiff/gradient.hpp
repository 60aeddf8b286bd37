// Differentiation: adds the nodes that compute gradients to a graph (white paper 4.1).
#pragma once
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/graph/gradient_context.hpp"
#include "troupe/runtime/graph/graph.hpp"

namespace troupe {

/// Returns d(sum of all ys)/dx for each x, as edges to new nodes under the scope "gradients".
/// `ys_gradients` weighs the ys and has their shapes; if empty, the weights are ones. An x on which
/// no y depends gets an empty edge. If a gradient on a path is not defined, fails with the
/// name of its node.
TROUPE_API result<std::vector<edge>>
gradients(std::vector<edge> ys, std::vector<edge> xs, std::vector<edge> ys_gradients = {},
          std::source_location where = std::source_location::current());

} // namespace troupe

// What a user may want otherwise of gradients; apart from gradient.hpp, which every op sees.
#pragma once
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <functional>
#include <map>

namespace troupe {

/// Like op_def::gradient: returns one edge per input of the node, or an edge to nothing.
using gradient_function = std::function<edges(gradient_context&)>;

struct gradient_options {
  /// Weigh the ys, whose shapes they have; ones if there are none.
  std::vector<edge> weights = {};
  /// What counts as constant: no gradient flows through these edges. That of an x among them is
  /// what reaches it, so that xs which depend on each other get their partial derivatives.
  std::vector<edge> stop = {};
  /// What takes the place of the gradient of one node, or of all nodes of an op; a node comes
  /// before its op. An op without a gradient may be given one.
  std::map<const node*, gradient_function> of_nodes = {};
  std::map<std::string, gradient_function, std::less<>> of_ops = {};
  /// Parts of the graph whose values are not kept for the gradients, but computed again, each part
  /// when the first gradient reaches it. What other parts take from one is kept, and so is what
  /// cannot be computed again: random numbers, what has effects, and what was read of a variable
  /// that is updated before the ys are there.
  std::vector<std::vector<node*>> recompute = {};
};

/// Like gradients() of gradient.hpp. Fails, naming the node, where a function given gives edges
/// that are not gradients of the node's inputs.
TROUPE_API result<std::vector<edge>>
gradients(std::vector<edge> ys, std::vector<edge> xs, const gradient_options& options,
          std::source_location where = std::source_location::current());

} // namespace troupe

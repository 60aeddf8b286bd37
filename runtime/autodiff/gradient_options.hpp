// Options of gradients(). Separate from gradient.hpp, which every op includes.
#pragma once
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <functional>
#include <map>

namespace troupe {

/// Like op_def::gradient: returns one edge per input of the node, or an empty edge.
using gradient_function = std::function<edges(gradient_context&)>;

struct gradient_options {
  /// The weights of the ys, with their shapes. Empty: all weights are ones.
  std::vector<edge> weights = {};
  /// Edges that count as constants: no gradient flows through them. The gradient of an x among them
  /// is still computed, so that xs that depend on each other get partial derivatives.
  std::vector<edge> stop_edges = {};
  /// Gradient functions that replace the gradient of one node, or of all nodes of an op. A node's
  /// function has precedence over its op's. An op without a gradient may be given one.
  std::map<const node*, gradient_function> of_nodes = {};
  std::map<std::string, gradient_function, std::less<>> of_ops = {};
  /// Parts of the graph whose values are recomputed for the gradients instead of kept. A part is
  /// recomputed when the first gradient reaches it. Values that other parts take from a part are
  /// kept. Values that cannot be recomputed are kept as well: random numbers, results of nodes with
  /// effects, and values read from a variable that is updated before the ys are computed.
  std::vector<std::vector<node*>> recomputed_parts = {};
};

/// Like gradients() of gradient.hpp. Fails, with the node's name, if a function of the options
/// returns edges that are not gradients of the node's inputs.
TROUPE_API result<std::vector<edge>>
gradients(std::vector<edge> ys, std::vector<edge> xs, const gradient_options& options,
          std::source_location where = std::source_location::current());

} // namespace troupe

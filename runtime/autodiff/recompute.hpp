// Trades time for memory: gradients recompute parts of a graph instead of keeping their values
// (white paper 4.1; Chen et al. 2016).
#pragma once
#include "troupe/runtime/graph/graph.hpp"

#include <map>
#include <set>

namespace troupe {

/// Copies nodes on demand. A copy runs after the first gradient that reaches its part has been
/// computed, and after all inputs of the gradients are available.
class recomputation {
public:
  /// A node of several parts belongs to the first of them.
  recomputation(graph& target, const std::vector<std::vector<node*>>& parts,
                const std::vector<edge>& ys, const std::vector<edge>& weights);

  /// Returns the node to differentiate in place of a node that the gradients have reached: its copy
  /// if it belongs to a part, else the node itself.
  result<node*> recomputed(node& target, const std::vector<edge>& output_gradients);

private:
  bool is_recomputable(const node& node) const;
  edge recomputed_edge(const edge& source) const;
  result<node*> copy(const node& source, const std::vector<node*>& start);

  graph& graph_;
  std::map<const node*, size_t> part_of_;
  std::map<const node*, node*> copies_;
  std::vector<std::vector<node*>> starts_; // for each part, the nodes that its copies run after
  std::vector<node*> ends_;                // the nodes of the ys, where gradients begin
  std::set<const node*> updated_;          // variables that are updated before the ys are computed
};

} // namespace troupe

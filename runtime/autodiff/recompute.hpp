// Trading time for memory: parts of a graph that gradients compute again instead of keeping what
// they need of them (white paper 4.1; Chen et al. 2016).
#pragma once
#include "troupe/runtime/graph/graph.hpp"

#include <map>
#include <set>

namespace troupe {

/// Makes the copies, each when it is first asked for. A copy starts when the first gradient has
/// reached its part, and everything that gradients begin with is there.
class recomputation {
public:
  /// A node of several parts counts as one of the first.
  recomputation(graph& in, const std::vector<std::vector<node*>>& parts,
                const std::vector<edge>& ys, const std::vector<edge>& weights);

  /// What to take the gradient of, instead of a node that these gradients have reached: its copy
  /// over other copies where it is in a part, or else itself.
  result<node*> recomputed(node& node, const std::vector<edge>& output_gradients);

private:
  bool can_run_again(const node& node) const;
  edge again(const edge& what) const;
  result<node*> copy(const node& n, const std::vector<node*>& start);

  graph& graph_;
  std::map<const node*, size_t> part_of_;
  std::map<const node*, node*> copies_;
  std::vector<std::vector<node*>> starts_; // of each part: what its copies come after
  std::vector<node*> ends_;                // where gradients begin
  std::set<const node*> updated_;          // variables that are not what they were by then
};

} // namespace troupe

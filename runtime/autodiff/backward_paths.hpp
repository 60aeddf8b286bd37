// The part of a graph that gradients flow through.
#pragma once
#include "troupe/runtime/graph/graph.hpp"

#include <map>
#include <set>

namespace troupe {

using edge_key = std::pair<const node*, int>;
using edge_keys = std::set<edge_key>;

inline edge_keys edge_keys_of(const std::vector<edge>& list) {
  edge_keys keys;
  for (const auto& list_edge : list)
    keys.emplace(list_edge.node, list_edge.index);
  return keys;
}

/// The nodes between the xs and the ys, on paths whose edges do not stop gradients.
class backward_paths {
public:
  /// `stopped` must outlive this object.
  backward_paths(const std::vector<edge>& ys, const std::vector<edge>& xs, const edge_keys& stopped)
      : xs_(edge_keys_of(xs)), stopped_(stopped) {
    for (const auto& x : xs)
      reached_[x.node] = true;
    for (const auto& y : ys)
      search(y.node);
  }
  bool contains(const node* node) const {
    auto entry = reached_.find(node);
    return entry != reached_.end() && entry->second;
  }
  /// Returns whether a gradient of this edge contributes to the gradient of an x.
  bool leads_to_x(const edge& target) const {
    edge_key key{target.node, target.index};
    return contains(target.node) && (!stopped_.contains(key) || xs_.contains(key));
  }

private:
  // Searches depth-first without recursion, because graphs may be very deep.
  void search(const node* start) {
    std::vector<std::pair<const node*, size_t>> path{{start, 0}};
    while (!path.empty()) {
      auto& [visited, next] = path.back();
      if (next == 0 && done_.contains(visited)) {
        path.pop_back();
        continue;
      }
      if (next < visited->inputs().size()) {
        path.emplace_back(visited->inputs()[next++].node, 0);
        continue;
      }
      bool is_on_path = contains(visited);
      for (const auto& input : visited->inputs())
        is_on_path = is_on_path || leads_to_x(input);
      reached_[visited] = is_on_path;
      done_[visited] = true;
      path.pop_back();
    }
  }

  edge_keys xs_;
  const edge_keys& stopped_;
  std::map<const node*, bool> reached_, done_;
};

} // namespace troupe

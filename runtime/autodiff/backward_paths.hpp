// Which part of a graph gradients flow through.
#pragma once
#include "troupe/runtime/graph/graph.hpp"

#include <map>
#include <set>

namespace troupe {

using edge_key = std::pair<const node*, int>;
using edge_keys = std::set<edge_key>;

inline edge_keys edge_keys_of(const std::vector<edge>& list) {
  edge_keys found;
  for (const auto& one : list)
    found.emplace(one.node, one.index);
  return found;
}

/// The nodes that lie between the xs and the ys, on paths through edges where gradients do not
/// stop.
class backward_paths {
public:
  /// `stopped` must outlive it.
  backward_paths(const std::vector<edge>& ys, const std::vector<edge>& xs, const edge_keys& stopped)
      : xs_(edge_keys_of(xs)), stopped_(stopped) {
    for (const auto& x : xs)
      reached_[x.node] = true;
    for (const auto& y : ys)
      on_path(y.node);
  }
  bool contains(const node* node) const {
    auto it = reached_.find(node);
    return it != reached_.end() && it->second;
  }
  /// Says whether what reaches this edge makes a difference to an x.
  bool lead_to(const edge& in) const {
    edge_key at{in.node, in.index};
    return contains(in.node) && (!stopped_.contains(at) || xs_.contains(at));
  }

private:
  // Depth-first without recursion: graphs may be very deep.
  void on_path(const node* start) {
    std::vector<std::pair<const node*, size_t>> path{{start, 0}};
    while (!path.empty()) {
      auto& [at, next] = path.back();
      if (next == 0 && done_.contains(at)) {
        path.pop_back();
        continue;
      }
      if (next < at->inputs().size()) {
        path.emplace_back(at->inputs()[next++].node, 0);
        continue;
      }
      bool any = contains(at);
      for (const auto& input : at->inputs())
        any = any || lead_to(input);
      reached_[at] = any;
      done_[at] = true;
      path.pop_back();
    }
  }

  edge_keys xs_;
  const edge_keys& stopped_;
  std::map<const node*, bool> reached_, done_;
};

} // namespace troupe

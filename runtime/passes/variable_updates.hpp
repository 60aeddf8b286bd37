// When a step changes its variables, for passes that have one read later than before.
#pragma once
#include "troupe/runtime/graph/accesses.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace troupe {

class variable_updates {
public:
  /// For each node, in order.
  void note(const node& node) {
    for (const auto& access : accesses_of(node))
      if (access.updates)
        of_[access.state].push_back(node.id());
  }

  /// Whether the variables that the node takes as values would have the same ones where the later
  /// node stands.
  bool reads_the_same_at(const node& n, const node& later) const {
    for (const auto& access : accesses_of(n)) {
      auto it = access.as_value ? of_.find(access.state) : of_.end();
      if (it == of_.end())
        continue;
      auto next = std::ranges::upper_bound(it->second, n.id());
      if (next != it->second.end() && *next < later.id())
        return false;
    }
    return true;
  }

private:
  std::map<const node*, std::vector<int>> of_; // ids of nodes that change it, rising
};

} // namespace troupe

// The updates of variables in a step, for passes that delay a read of a variable.
#pragma once
#include "troupe/runtime/graph/accesses.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace troupe {

class variable_updates {
public:
  /// Records the updates of a node. Called for each node, in order.
  void note(const node& node) {
    for (const auto& access : accesses_of(node))
      if (access.updates)
        updates_[access.state].push_back(node.id());
  }

  /// Returns whether the variables that the node reads would have the same values at the position
  /// of the later node.
  bool reads_the_same_at(const node& reader, const node& later) const {
    for (const auto& access : accesses_of(reader)) {
      auto state_updates = access.is_read ? updates_.find(access.state) : updates_.end();
      if (state_updates == updates_.end())
        continue;
      auto next = std::ranges::upper_bound(state_updates->second, reader.id());
      if (next != state_updates->second.end() && *next < later.id())
        return false;
    }
    return true;
  }

private:
  std::map<const node*, std::vector<int>> updates_; // for each variable, ascending ids of nodes
};

} // namespace troupe

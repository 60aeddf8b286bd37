// How a process joins a cluster (docs/decisions/056).
#pragma once
#include "troupe/runtime/cluster/cluster_coordinator.hpp"

#include <string>
#include <vector>

namespace troupe {

struct join_options {
  std::vector<std::string> seeds; ///< addresses; the task at the first gives out numbers
  std::string address = {};       ///< of this task, as others call it; empty in a client
  coordinator_options times = {};
  /// Says whether this task is the one that gives out numbers.
  bool coordinates() const { return !seeds.empty() && seeds.front() == address; }
};

} // namespace troupe

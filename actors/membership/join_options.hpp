// How a process joins a cluster (docs/decisions/056).
#pragma once
#include "troupe/runtime/cluster/cluster_coordinator.hpp"
#include "troupe/runtime/cluster/succession.hpp"

#include <string>
#include <vector>

namespace troupe {

struct join_options {
  std::vector<std::string>
      seeds;                ///< addresses; the task at the first gives out numbers while it lives
  std::string address = {}; ///< of this task, as others call it; empty in a client
  coordinator_options times = {};
  succession_options succession = {};
  bool follows_coordinator = false; ///< its former process was the coordinator, in another's place
  bool is_first() const { return !seeds.empty() && seeds.front() == address; }
  /// Says whether this task is the one that gives out numbers from its start on.
  bool coordinates() const { return is_first() || follows_coordinator; }
};

} // namespace troupe

// How a process joins a cluster (docs/decisions/056).
#pragma once
#include "troupe/runtime/cluster/cluster_coordinator.hpp"
#include "troupe/runtime/cluster/succession.hpp"

#include <string>
#include <vector>

namespace troupe {

struct join_options {
  /// Addresses. The task at the first assigns numbers while it runs.
  std::vector<std::string> seeds;
  std::string address = {}; ///< at which other tasks call this one; empty in a client
  coordinator_options times = {};
  succession_options succession = {};
  bool follows_coordinator = false; ///< the former process of this task was an elected coordinator
  bool is_first() const { return !seeds.empty() && seeds.front() == address; }
  /// Returns whether this task assigns numbers from its start.
  bool coordinates() const { return is_first() || follows_coordinator; }
};

} // namespace troupe

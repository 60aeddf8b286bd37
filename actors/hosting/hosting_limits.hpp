// How much a task does for clients whose sessions it hosts (docs/decisions/069).
#pragma once
#include <cstddef>
#include <cstdint>

namespace troupe {

/// Of one client, over all of its connections, where nothing else is said. A client is who the
/// access list knows by that name; where there is no list, each connection is one.
struct hosting_limits {
  size_t sessions = 64;        ///< of all clients; 0: the task hosts none
  size_t sessions_each = 16;   ///< of one client
  size_t programs = 1024;      ///< kinds of steps that are prepared
  size_t steps = 4096;         ///< steps and other requests that run or wait
  size_t steps_at_once = 64;   ///< of all clients: further ones wait, and clients take turns
  uint64_t bytes = 4ull << 30; ///< of graphs, and of the feeds of steps that run or wait
};

} // namespace troupe

// Limits of a task that hosts sessions of clients (docs/decisions/069).
#pragma once
#include <cstddef>
#include <cstdint>

namespace troupe {

/// Limits of one client over all of its connections, unless a field says otherwise. The access
/// list identifies clients by name; without a list, each connection is one client.
struct hosting_limits {
  size_t sessions = 64;            ///< of all clients; 0: the task hosts none
  size_t sessions_per_client = 16; ///< of one client
  size_t programs = 1024;          ///< prepared kinds of steps
  size_t steps = 4096;             ///< running or waiting steps and other requests
  /// Running steps of all clients. Further steps are queued, and clients take turns.
  size_t max_concurrent_steps = 64;
  uint64_t bytes = 4ull << 30; ///< of graphs, and of the feeds of steps that run or wait
};

} // namespace troupe

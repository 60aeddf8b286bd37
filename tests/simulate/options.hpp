// The parameters of a simulation, which are drawn from its seed.
#pragma once
#include "tests/simulate/script.hpp"
#include "troupe/runtime/types/status.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace troupe::simulate {

struct options {
  uint64_t seed = 0;
  int64_t clients = 1, workers = 1, servers = 1;
  int64_t lanes = 1;               ///< concurrent steps per client
  int64_t fault_seconds = 30;      ///< the duration of the phase with faults
  int64_t think_ms = 200;          ///< the maximum pause between two steps of a lane
  int64_t peer_timeout_ms = 10000; ///< the silence after which a peer counts as lost
  int64_t latency_us = 500;        ///< the maximum one-way latency
  int64_t queues = 0;              ///< permille of the steps that put or take
  // In the following options, 0 disables the kind.
  int64_t shuffle = 0;      ///< actors run in any order
  int64_t torn = 0;         ///< reads of a few bytes
  int64_t slow_readers = 0; ///< permille of the reads that are delayed, by up to 50 ms
  int64_t late = 0; ///< permille of the messages that take up to 3 ms; timers are delayed, too
  int64_t short_deadlines = 0; ///< permille of the steps with a short deadline
  int64_t losses = 0;          ///< losses of connections per minute
  int64_t partitions = 0;      ///< partitions between two processes per minute
  int64_t one_way = 0;         ///< permille of the partitions that stop one direction only
  int64_t pauses = 0;          ///< pauses of processes per minute
  int64_t crashes = 0;         ///< crashes of tasks per minute
  int64_t machines = 0;        ///< permille of the crashes without notice to peers
  int64_t splits = 0;          ///< tasks that are replaced and keep running, per minute
  int64_t shortages = 0;       ///< memory shortages of tasks per minute
  int64_t reopens = 0;         ///< reopened sessions per minute
  int64_t resets = 0;          ///< permille of the steps replaced by a container's reset
  int64_t listings = 0;        ///< permille of the steps replaced by a device listing
  int64_t max_concurrent = 0;  ///< maximum concurrent steps of one kind in a session
  int64_t buggify = 0;         ///< whether TROUPE_BUGGIFY acts
  int64_t huge = 0;            ///< permille of the training steps with tensors of megabytes
  int64_t reductions = 0;      ///< whether there are steps in which all tasks reduce a tensor
  int64_t recovers = 0;        ///< whether sessions restore the state that a task has lost
  int64_t joined = 0;          ///< seed addresses of a cluster that the other tasks join
  int64_t programs = 0;        ///< permille of the steps replaced by random programs
  int64_t replicas = 0;        ///< replicas of a model that a client trains, beside its other steps
  int64_t stops = 0;           ///< permille of the steps that their caller stops
  int64_t moves = 0;           ///< permille of a task's starts at another address
  std::vector<scripted_fault> script = {}; ///< if not empty, the only faults

  static options draw(uint64_t seed);
  /// Disables all drawn faults and rare events; the processes and their steps remain.
  void calm();
  /// Parses "losses=0".
  status set(std::string_view assignment);
};

/// An option by name.
struct option_entry {
  const char* name;
  int64_t options::*value;
  int64_t off; ///< the value that simplifies the simulation most
  const char* doc;
};

std::span<const option_entry> all_options();
std::string to_string(const options& chosen);

} // namespace troupe::simulate

// What a seed decides before anything happens.
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
  int64_t lanes = 1;               ///< steps of one client at once
  int64_t fault_seconds = 30;      ///< how long the first phase takes
  int64_t think_ms = 200;          ///< between two steps of a lane, at most
  int64_t peer_timeout_ms = 10000; ///< of silence
  int64_t latency_us = 500;        ///< of one way, at most
  int64_t queues = 0;              ///< permille of the steps that put or take
  // From here on 0 is nothing of the kind.
  int64_t shuffle = 0;         ///< actors run in any order
  int64_t torn = 0;            ///< reads of a few bytes
  int64_t slow_readers = 0;    ///< permille of the reads that come late, by up to 50 ms
  int64_t late = 0;            ///< permille of the messages that take up to 3 ms; timers wait, too
  int64_t short_deadlines = 0; ///< permille of the steps
  int64_t losses = 0;          ///< of connections, in a minute
  int64_t partitions = 0;      ///< between two processes, in a minute
  int64_t one_way = 0;         ///< permille of the partitions that stop one direction only
  int64_t pauses = 0;          ///< of processes, in a minute
  int64_t crashes = 0;         ///< of tasks, in a minute
  int64_t machines = 0;        ///< permille of the crashes of which no peer is told
  int64_t splits = 0;          ///< tasks that are replaced and live on, in a minute
  int64_t shortages = 0;       ///< of memory on a task, in a minute
  int64_t reopens = 0;         ///< of sessions, in a minute
  int64_t resets = 0;          ///< permille of the steps that are a container's reset instead
  int64_t listings = 0;        ///< permille of the steps that ask for all devices instead
  int64_t max_concurrent = 0;  ///< steps of one kind in a session
  int64_t buggify = 0;         ///< TROUPE_BUGGIFY acts
  int64_t huge = 0;            ///< permille of the steps that train: tensors of megabytes
  int64_t reductions = 0;      ///< steps that all tasks reduce a tensor in
  int64_t recovers = 0;        ///< sessions want to restore what a task has lost
  int64_t joined = 0;          ///< addresses that are known of the cluster, which the others join
  int64_t programs = 0;        ///< permille of the steps that are random programs instead
  int64_t replicas = 0;        ///< of a model that a client trains, beside its other steps
  int64_t stops = 0;           ///< permille of the steps that their caller stops
  int64_t moves = 0;           ///< permille of the starts of a task that are at another address
  std::vector<scripted_fault> script = {}; ///< the only faults

  static options draw(uint64_t seed);
  /// No fault is drawn any more, and no rare event: what is left is who is there and what they do.
  void calm();
  /// Reads "losses=0".
  status set(std::string_view assignment);
};

/// An option by name.
struct option_entry {
  const char* name;
  int64_t options::*value;
  int64_t off; ///< the value that leaves least to look at
  const char* doc;
};

std::span<const option_entry> all_options();
std::string to_string(const options& what);

} // namespace troupe::simulate

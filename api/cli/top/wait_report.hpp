// Who waits for whom in a cluster: from what its tasks say of their steps.
#pragma once
#include "troupe/runtime/insight/inspection.hpp"

#include <string>
#include <vector>

namespace troupe {

/// The kinds that an inspection of the cluster, 4 deep, must have for it.
inline constexpr const char* kinds_of_waits = "step,hosted_session,client,wait,container,queue,"
                                              "accumulator,barrier,staging_area,mutex,reader,file_"
                                              "access";

/// One wait of a step on a task.
struct cluster_wait {
  std::string task; ///< that waits: "/job:worker/task:0"; "client 5 of /job:ps/task:0" where that
                    ///< task was told by its client
  /// "<session>.<number>", the same on all tasks that take part; of one that its host has not let
  /// in, the ref of the wait.
  std::string step;
  /// "tensor", "state", "files", "collective", "functions", "turn", "region"; "task" of a client
  std::string what_for;
  std::string node;       ///< "QueueDequeue 'take' (train.cpp:17)"
  std::string target;     ///< "/job:ps/task:0/device:cpu:0", "queue 'rows'"
  std::string detail;     ///< "0 of 10 elements, 2 dequeues wait"
  std::string other_task; ///< whose tensor it waits for, if that is another task
  double seconds = 0;
  size_t steps = 1; ///< of a client: so many wait so
  /// Nothing that is told here explains it: it waits for no task of which the same step waits.
  bool is_cause = true;
};

/// All waits that the tasks of a cluster, as inspected, tell of; steps that wait for the longest
/// first, and of a step its causes first.
std::vector<cluster_wait> waits_in(const inspection& cluster);

/// Waits of several steps of one task for one thing.
struct wait_summary {
  std::string task, target; ///< "/job:worker/task:0", "/job:ps/task:0" or "queue 'rows'"
  size_t steps = 0;
  double longest = 0;
};
/// The longest first. Regions that run are left out.
std::vector<wait_summary> summarize(const std::vector<cluster_wait>& waits);

/// For people: who waits for whom, and then each step, at most so many.
std::string print_waits(const std::vector<cluster_wait>& waits, size_t most_steps);

/// "350 us", "12.4 ms", "3.1 s", "2 h 05 min".
std::string duration_text(double seconds);

} // namespace troupe

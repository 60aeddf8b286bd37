// Waits between the tasks of a cluster, from the reports of its tasks about their steps.
#pragma once
#include "troupe/runtime/insight/inspection.hpp"

#include <string>
#include <vector>

namespace troupe {

/// The kinds that an inspection of the cluster, of depth 4, must include.
inline constexpr const char* kinds_of_waits =
    "step,hosted_session,client,wait,container,queue,accumulator,barrier,staging_area,mutex,reader,"
    "file_access";

/// One wait of a step on a task.
struct cluster_wait {
  std::string task; ///< the waiting task: "/job:worker/task:0"; "client 5 of /job:ps/task:0" for a
                    ///< client that has reported its wait to that task
  /// "<session>.<number>", equal on all tasks that take part. For a step that its host has not
  /// admitted, the ref of the wait.
  std::string step;
  /// "tensor", "state", "files", "collective", "functions", "turn", "region"; "task" for a client
  std::string wait_kind;
  std::string node;       ///< "QueueDequeue 'take' (train.cpp:17)"
  std::string target;     ///< "/job:ps/task:0/device:cpu:0", "queue 'rows'"
  std::string detail;     ///< "0 of 10 elements, 2 dequeues wait"
  std::string other_task; ///< the task that produces the awaited tensor, if it is another one
  double seconds = 0;
  size_t steps = 1; ///< for a client: number of steps with this wait
  /// True if no other reported wait explains it: the same step does not wait on the awaited task.
  bool is_cause = true;
};

/// Returns all waits in an inspection of a cluster. Steps with the longest waits come first, and
/// for each step its causes first.
std::vector<cluster_wait> waits_in(const inspection& cluster);

/// Waits of several steps of one task for the same target.
struct wait_summary {
  std::string task, target; ///< "/job:worker/task:0", "/job:ps/task:0" or "queue 'rows'"
  size_t steps = 0;
  double longest = 0;
};
/// Summarizes waits, the longest first. Running regions are left out.
std::vector<wait_summary> summarize(const std::vector<cluster_wait>& waits);

/// Prints a summary, and then at most `max_steps` steps in detail.
std::string print_waits(const std::vector<cluster_wait>& waits, size_t max_steps);

/// "350 us", "12.4 ms", "3.1 s", "2 h 05 min".
std::string duration_text(double seconds);

} // namespace troupe

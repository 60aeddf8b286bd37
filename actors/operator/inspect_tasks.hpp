// Asks tasks for their inspections, over the connections of a membership.
#pragma once
#include "troupe/actors/operator/cluster_inspection.hpp"

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>

#include <chrono>
#include <functional>
#include <string>

namespace troupe {

struct tasks_question {
  std::vector<task_name> tasks;
  std::string ref; ///< a part of the only task; empty: each task as a whole
  inspection_scope scope;
  std::chrono::milliseconds patience{3000}; ///< for the answers of all tasks
};

/// Calls `then` once, on a thread of the system, when all tasks have answered or the time is over.
/// A task that refuses the connection is `unavailable` without a retry. A task that has not
/// answered in time is `unavailable` or `deadline_exceeded`.
void inspect_tasks(caf::actor_system& system, const caf::actor& membership, tasks_question question,
                   std::function<void(task_inspections)> then);

/// Asks a task to drain, and passes its answer to `then`, once, on a thread of the system. Connects
/// by repeated attempts, because the task may be starting.
void ask_to_drain(caf::actor_system& system, const caf::actor& membership, const task_name& task,
                  std::chrono::milliseconds patience, std::function<void(status)> then);

} // namespace troupe

// Asks tasks what there is to see of them, over the connections of a membership.
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
  std::string ref; ///< of a part of the one task; empty: each task itself
  inspection_scope scope;
  std::chrono::milliseconds patience{3000};
};

/// Calls back once, on a thread of the system, when all have answered or time is over. A task that
/// refuses the connection is `unavailable` at once, and one that has not answered by then is
/// `unavailable` or `deadline_exceeded`.
void inspect_tasks(caf::actor_system& system, const caf::actor& membership, tasks_question what,
                   std::function<void(task_inspections)> then);

/// Asks a task to drain: the outcome of asking. It may be a task that is just starting.
void ask_to_drain(caf::actor_system& system, const caf::actor& membership, const task_name& task,
                  std::chrono::milliseconds patience, std::function<void(status)> then);

} // namespace troupe

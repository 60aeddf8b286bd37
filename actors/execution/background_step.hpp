// Runs a step that no thread of this process waits for: another process, or an actor, requested it.
#pragma once
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/execution/step_table.hpp"

#include <functional>

namespace troupe {

/// Called once, on the thread that ended the step.
using step_end = std::function<void(step_result)>;

/// Starts the step on the given unit. `self` names the task in errors. Kernels stop at
/// `kernels_until`. The deadline of the step is by the clock of the actor system.
void start_background_step(const std::shared_ptr<task_program>& program,
                           const std::shared_ptr<step_table>& steps, run_request& request,
                           const std::string& self, step_end on_end, caf::execution_unit* unit,
                           stop_signal::clock::time_point kernels_until);

/// Converts a deadline to the steady clock, which kernels read even if the actor system has a
/// virtual clock, as in tests.
stop_signal::clock::time_point by_steady_clock(step_clock::time_point deadline,
                                               step_clock::time_point now);

} // namespace troupe

// The positions of a session's stateful kernels on all of its tasks.
#pragma once
#include "troupe/actors/base/messages.hpp"

#include <caf/event_based_actor.hpp>

#include <functional>
#include <map>
#include <vector>

namespace troupe {

/// Asks the workers, and calls `then` once, after two seconds at the latest. The result has no
/// entry for a task that does not answer, so its kernels have no position to which they can be
/// restored. Fails if a worker reports another error.
void gather_positions(caf::event_based_actor* self, const std::map<task_name, caf::actor>& workers,
                      const ask_positions& question,
                      std::function<void(result<std::vector<task_positions>>)> then);

} // namespace troupe

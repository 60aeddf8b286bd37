// Where stateful kernels of a session stand, on all of its tasks.
#pragma once
#include "troupe/actors/base/messages.hpp"

#include <caf/event_based_actor.hpp>

#include <functional>
#include <map>
#include <vector>

namespace troupe {

/// Asks the workers; those that are lost begin anew, and are left out. Calls `then` once.
void gather_positions(caf::event_based_actor* self, const std::map<task_name, caf::actor>& workers,
                      const ask_positions& what,
                      std::function<void(result<std::vector<task_positions>>)> then);

} // namespace troupe

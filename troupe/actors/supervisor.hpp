// Watches the actors that a task cannot do without.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <caf/actor.hpp>

#include <functional>
#include <vector>

namespace troupe {

/// Spawns a supervisor, which tells once when one of the actors ends otherwise than by an exit
/// message of `user_shutdown`: by an exception, for example. A task without its worker would keep
/// its port and answer nothing.
caf::actor spawn_supervisor(caf::actor_system& system, const std::vector<caf::actor>& watched,
                            std::function<void(const status&)> on_failure);

} // namespace troupe

// Watches the actors that a task cannot do without.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <caf/actor.hpp>

#include <functional>
#include <map>
#include <string>

namespace troupe {

/// Spawns a supervisor, which tells once when one of the actors ends otherwise than by an exit
/// message of `user_shutdown`: by an exception, for example. A task without its worker would keep
/// its port and answer nothing.
caf::actor
spawn_supervisor(caf::actor_system& system,
                 const std::map<std::string, caf::actor>& watched, ///< by name, for errors
                 std::function<void(const status&)> on_failure);

} // namespace troupe

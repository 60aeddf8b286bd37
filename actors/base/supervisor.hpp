// Watches the actors that a task needs.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <caf/actor.hpp>

#include <functional>
#include <map>
#include <string>

namespace troupe {

/// Spawns an actor that calls `on_failure`, once, when one of the watched actors ends other than by
/// an exit message of `user_shutdown`: by an exception, for example. Without this, a task that has
/// lost its worker would keep its port and answer nothing.
caf::actor
spawn_supervisor(caf::actor_system& system,
                 const std::map<std::string, caf::actor>& watched, ///< by name, for errors
                 std::function<void(const status&)> on_failure);

} // namespace troupe

// The actor of a task's long work (runtime/graph/long_work.hpp): nodes wait for it as they wait for
// state.
#pragma once
#include <caf/actor.hpp>

namespace troupe {

/// Spawns an inline actor that handles wait_request and step_ended. It has a background executor
/// with its own thread, which does one work after another. Work of a step that has failed is not
/// begun. After an exit message it answers all requests with `cancelled`.
caf::actor spawn_long_worker(caf::actor_system& system);

} // namespace troupe

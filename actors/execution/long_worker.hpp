// The actor that runs the long work of a task's nodes (runtime/graph/long_work.hpp), such as
// reading and writing files. Nodes wait for it as they wait for state.
#pragma once
#include <caf/actor.hpp>

namespace troupe {

/// Spawns an inline actor that handles wait_request and step_ended. Its background executor,
/// which has its own thread, runs the work of one node after another. Work of a step that has
/// failed is not begun; work that has begun gets a stop signal. After an exit message it answers
/// all requests with `cancelled`.
caf::actor spawn_long_worker(caf::actor_system& system);

} // namespace troupe

// The actor of a task's long work (runtime/graph/long_work.hpp): nodes ask it as they ask state.
#pragma once
#include <caf/actor.hpp>

namespace troupe {

/// Spawns an inline actor, which understands ask and step_ended. It has a clerk with a thread of
/// its own, which does one work after the other; that of a step that has failed is not begun. After
/// an exit message it answers all questions with `cancelled`.
caf::actor spawn_long_worker(caf::actor_system& system);

} // namespace troupe

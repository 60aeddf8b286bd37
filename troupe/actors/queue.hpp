// The actor of one queue: a fifo_queue (runtime/state/queue.hpp) whose callers are regions.
#pragma once
#include "troupe/runtime/fwd.hpp"
#include "troupe/runtime/types/status.hpp"

#include <caf/actor.hpp>

namespace troupe {

/// Understands queue_wait and queue_cancel. `maker` is a FIFOQueue node; fails where its attributes
/// contradict each other.
result<caf::actor> spawn_queue(caf::actor_system& system, const node& maker);

} // namespace troupe

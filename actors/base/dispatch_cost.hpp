// What it costs to give work to another thread, on this machine.
#pragma once
#include "troupe/runtime/program/regions.hpp"

#include <caf/fwd.hpp>

namespace troupe {

/// The time in nanoseconds from handing a job to the system's scheduler until an idle worker begins
/// it: the median of some, measured once in this process, which takes about a millisecond. A system
/// whose scheduler runs nothing by itself gets a usual value.
double dispatch_cost(caf::actor_system& system);

/// Cuts programs so that the threads of this system have something to do.
region_options cut_for(caf::actor_system& system, size_t threads);

} // namespace troupe

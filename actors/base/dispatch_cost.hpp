// Measures the cost of handing work to another thread of this machine.
#pragma once
#include "troupe/runtime/program/regions.hpp"

#include <caf/fwd.hpp>

namespace troupe {

/// Returns the nanoseconds from handing a job to the system's scheduler until an idle worker begins
/// it: the median of 15 jobs, limited to 1 to 200 us. The first call in a process measures it, in
/// about a millisecond. Returns 20 us if no job begins within 20 ms, as in tests whose scheduler
/// does not run jobs by itself. Any thread may call.
double dispatch_cost(caf::actor_system& system);

/// Returns options that cut programs into enough regions for the threads of this system.
region_options region_options_for(caf::actor_system& system, size_t threads);

} // namespace troupe

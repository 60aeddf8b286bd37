// A loop of sockets on the thread of a host's middleman.
#pragma once
#include "troupe/actors/execution/io_loop.hpp"

#include <caf/fwd.hpp>

#include <memory>

namespace troupe {

/// Whether the thread of a host's middleman polls for a moment before it sleeps, after an event of
/// a Troupe socket. docs/decisions/080 has the measurements.
inline constexpr bool spins_in_hosts = true;

/// Returns a new loop on the thread of the system's middleman, which also handles the system's
/// brokers. Null: the middleman has no thread. While the loop has sockets, it counts as an actor
/// that runs, so the system does not end.
std::shared_ptr<io_loop> loop_of_middleman(caf::actor_system& system, bool spins);

} // namespace troupe

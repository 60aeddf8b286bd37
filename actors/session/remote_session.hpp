// A session whose master is an actor of a task: the client's end of a session_host's session.
#pragma once
#include "troupe/actors/session/session.hpp"

namespace troupe {

/// Spawns an actor that understands what the actor of an ordinary session does, and has the first
/// of these addresses ("host:port") do it that takes the session. Where that task is lost or
/// drains, what it has not answered fails with `unavailable`, and what is asked from then on goes
/// to the next, which prepares again what was prepared. By the usual ways, where no others are
/// given.
result<caf::actor> spawn_remote_session(caf::actor_system& system,
                                        const std::vector<std::string>& hosts,
                                        const client_options& options,
                                        const node_times* measured = nullptr,
                                        const membership_ways* ways = nullptr);

} // namespace troupe

// A session whose master is an actor of a task: the client's end of a session_host.
#pragma once
#include "troupe/actors/session/session.hpp"

namespace troupe {

/// Spawns an actor with the interface of a session actor. It forwards requests to a task that hosts
/// the session: the first of `hosts` ("host:port") that accepts it. If that task is lost or drains,
/// its unanswered requests fail with `unavailable`. Later requests go to the next host, at which
/// steps are prepared again. `transport`, if given, replaces the usual transport.
result<caf::actor> spawn_remote_session(caf::actor_system& system,
                                        const std::vector<std::string>& hosts,
                                        const client_options& options,
                                        const node_times* measured = nullptr,
                                        const membership_transport* transport = nullptr);

} // namespace troupe
